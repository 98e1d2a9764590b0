// Label values that come from outside, limited to a number that no outsider can exceed. Internal to
// metrics.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "metrics/series.h"

namespace mnet::metrics {

class BoundedLabel {
 public:
  explicit BoundedLabel(std::size_t most) : most_(most) {}

  // `value` itself for the first `most` different ones that look like the name of a program, else
  // `other`.
  std::string of(std::string_view value) {
    if (known_.contains(value)) return std::string(value);
    if (known_.size() >= most_ || !is_plain(value)) return "other";
    return *known_.emplace(value).first;
  }

 private:
  static bool is_plain(std::string_view value) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return !value.empty() && value.size() <= 64 &&
           value.find_first_not_of(kPlain) == std::string_view::npos;
  }

  std::size_t most_;
  std::set<std::string, std::less<>> known_;
};

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

// A histogram for each command, made with its first value. Finding one by its labels takes a
// microsecond, and every ADD needs several: they are remembered.
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
