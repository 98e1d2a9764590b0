// Plugins that a killed predecessor left running, found by a variable of their environment. Costs
// nothing while all is well: no record is kept, /proc is searched once, at start.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mnet::plugin {

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  std::uint64_t start_time = 0;  // in ticks since boot; with pid it identifies one process
  std::string parent_command;    // `comm` of the parent; empty if it is gone
};

// All processes, except our own, whose environment has a variable of that name, and the others of
// their process groups (one that is just between fork and exec shows no environment). Zombies and
// those that end while we look are left out, and so are processes of other PID namespaces, which
// are containers' and no delegate's: their environments are not even read. No environment is kept,
// whatever its size: the owner of a process chooses it.
Result<std::vector<Process>> list_processes_with(std::string_view variable);

// Those of them that no process waits for any more: no member of their group has a parent whose
// command (comm, at most 15 bytes) is one of `owners`. A second daemon that still runs keeps its
// own.
Result<std::vector<Process>> list_orphans(std::string_view variable,
                                          const std::vector<std::string>& owners);

// SIGTERM to their groups, after `grace` SIGKILL; returns when all of them have ended. kTimeout if
// some do not even then (`patience` more). Blocks: for a thread of the pool. A process that ended
// meanwhile, and whose number went to another, is not touched.
Result<void> end_processes(const std::vector<Process>& processes, std::chrono::milliseconds grace,
                           std::chrono::milliseconds patience = std::chrono::seconds(5));

}  // namespace mnet::plugin
