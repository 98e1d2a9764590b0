// Child processes: fork, chroot and exec together, a pidfd to wait on, pipes to talk to it.
// Needs Linux 5.4 or newer (pidfds); close_range (5.9) is used where it exists.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"

namespace mnet::sys {

struct Program {
  std::string path;                    // absolute, as seen from inside `root`
  std::vector<std::string> env;        // the child's whole environment; nothing is inherited
  std::string root = {};               // chroot to it and chdir "/"; empty: none
  int mount_namespace = -1;            // setns to it (CLONE_NEWNS) and chdir "/"; wins over root
  std::vector<std::string> args = {};  // after the first argument, which is its path
  bool shares_output = false;          // it writes where we write and reads nothing: no pipes
  bool is_expendable = false;          // the first that the kernel kills when memory runs out
  // A directory of control groups (version 2), held open: the child begins in that group. In ours,
  // if it cannot.
  int control_group = -1;
};

// How a child ended: "exit status 3", "signal: killed", "signal: segmentation fault (core dumped)".
struct ExitStatus {
  int exit_code = 0;  // meaningful if signal == 0
  int signal = 0;
  bool core_dumped = false;
  // The most bytes that it, or one of its children, had in memory. A child begins in our memory, so
  // this is never less than what we had ourselves when it was started.
  std::uint64_t peak_memory = 0;

  bool success() const { return signal == 0 && exit_code == 0; }
  std::string text() const;
};

// A running child in a process group of its own, with default signal dispositions, an empty signal
// mask and no descriptors but 0-2. It gets no SIGKILL when the daemon
// dies: plugin/orphans.h finds what a killed daemon left running.
class Child {
 public:
  // Starts the program. The memory is not copied, so the cost does not grow with our size; the
  // calling thread stands still until the exec. A failed exec is reported here, with its errno:
  // `fork/exec <path>: permission denied`.
  static Result<Child> spawn(const Program& program);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();  // a live one is killed, its group too, and reaped

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }  // readable when it has ended
  // Our ends, non-blocking; each can be taken once. None if it shares our output.
  UniqueFd take_stdin() { return std::move(stdin_); }
  UniqueFd take_stdout() { return std::move(stdout_); }
  UniqueFd take_stderr() { return std::move(stderr_); }

  // The whole process group. Nothing after reap(): the number may be another's by then.
  void signal_group(int signal) const;
  // None while it runs. Reaps; afterwards always the same answer.
  std::optional<ExitStatus> reap();

 private:
  Child() = default;
  void end();
  pid_t pid_ = -1;  // -1: moved from
  UniqueFd pidfd_, stdin_, stdout_, stderr_;
  std::optional<ExitStatus> status_;
};

// The most bytes that this process ever had in memory.
std::uint64_t own_peak_memory();

}  // namespace mnet::sys
