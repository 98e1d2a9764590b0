// What install, uninstall and apply do, in which order, and with which exit status (04, 1.2, 1.6,
// 1.11).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aio/task.h"
#include "cni_node/command.h"
#include "cni_node/files.h"
#include "cni_node/manifests.h"
#include "nodetools/output.h"
#include "sys/signals.h"

namespace mnet::cni_node {

enum class ItemKind : std::uint8_t { kPlugin, kConfig, kManifest };

// Items of one kind, in the order they are worked off.
struct Step {
  ItemKind kind;
  bool installs;
  Names names;
};
// Phases in their order; a failure in one leaves out the next. Empty lists are left out.
std::vector<std::vector<Step>> steps_of(const Command& command);

class Work {
 public:
  // All must outlive the task.
  Work(const Command& command, nodetools::Output& output, sys::Signals& signals);

  // Yields the exit status.
  aio::Task<int> run();

  Manifests& manifests() { return manifests_; }

 private:
  struct Counts {
    int changed = 0, unchanged = 0, failed = 0;
  };

  aio::Task<void> work_off(Step step);
  aio::Task<bool> do_item(ItemKind kind, bool installs, std::string name);
  bool is_told_to_stop();
  aio::Task<int> pause();
  void sum_up();

  const Command& command_;
  nodetools::Output& output_;
  sys::Signals& signals_;
  Files files_;
  Manifests manifests_;
  Counts counts_;
  std::optional<int> signal_;  // that has come
  bool is_cut_short_ = false;  // work was left because of it
};

}  // namespace mnet::cni_node
