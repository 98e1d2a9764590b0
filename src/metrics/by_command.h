// Histograms by CNI command. Internal to metrics.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "metrics/series.h"

namespace mnet::metrics {

// The last one is for all other commands: a client that invents a command must not make a series.
inline constexpr std::array<std::string_view, 7> kCommands = {"ADD", "DEL",     "CHECK", "STATUS",
                                                              "GC",  "VERSION", "other"};

inline std::size_t command_number(std::string_view command) {
  const auto found = std::ranges::find(kCommands, command);
  return std::min<std::size_t>(static_cast<std::size_t>(found - kCommands.begin()),
                               kCommands.size() - 1);
}

inline std::string command_label(std::string_view command) {
  return std::string(kCommands[command_number(command)]);
}

// One for each command, made with its first value. Finding one by its labels takes a microsecond,
// and every ADD needs several: they are remembered.
class ByCommand {
 public:
  // `labels`: further ones. The family must outlive it.
  explicit ByCommand(Histograms& family, Labels labels = {})
      : family_(family), labels_(std::move(labels)) {}

  void observe(std::string_view command, std::chrono::duration<double> time) {
    Histogram*& histogram = made_[command_number(command)];
    if (histogram == nullptr) histogram = &make(command_label(command));
    histogram->observe(time.count());
  }

 private:
  Histogram& make(const std::string& command) {
    Labels labels = labels_;
    labels["command"] = command;
    return family_.at(labels);
  }

  Histograms& family_;
  Labels labels_;
  std::array<Histogram*, kCommands.size()> made_{};
};

}  // namespace mnet::metrics
