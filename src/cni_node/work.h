// What install, uninstall and apply do, in which order, and with which exit status (04, 1.2, 1.6,
// 1.11).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aio/event.h"
#include "aio/group.h"
#include "aio/task.h"
#include "cni_node/command.h"
#include "cni_node/files.h"
#include "cni_node/manifests.h"
#include "ledger/ledger_file.h"
#include "nodetools/health.h"
#include "nodetools/output.h"
#include "nodetools/stop_signal.h"
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
  Work(const Command& command, nodetools::Output& output, sys::Signals& signals,
       const aio::asio::any_io_executor& executor, nodetools::Health& health);

  // Yields the exit status.
  aio::Task<int> run();

 private:
  struct Counts {
    int changed = 0, unchanged = 0, failed = 0;
  };

  aio::Task<void> work_off(Step step);
  aio::Task<bool> do_item(ItemKind kind, bool installs, std::string name);
  // By a signal, or because the time is over.
  bool is_told_to_stop();
  bool is_late() const;
  aio::Task<void> work_off_all();
  aio::Task<void> listen();
  aio::Task<int> pause();
  void sum_up();

  const Command& command_;
  nodetools::Output& output_;
  nodetools::StopSignal signal_;
  nodetools::Health& health_;
  const aio::Deadline deadline_;
  std::unique_ptr<ledger::LedgerFile> ledger_;
  std::optional<Files> files_;
  Manifests manifests_;
  aio::Group working_, listening_;
  Counts counts_;
  aio::Event stop_;
  bool is_cut_short_ = false;  // work was left
};

// The ledger of the node. None, unless its directory exists or is worth being made: below a mount
// point, or named by an option. A dry run makes nothing.
Result<std::unique_ptr<ledger::LedgerFile>> open_ledger(const Command& command,
                                                        nodetools::Output& output,
                                                        ledger::LedgerFile::Settings settings);

}  // namespace mnet::cni_node
