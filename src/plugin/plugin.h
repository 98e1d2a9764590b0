// Finds and runs CNI plugin executables (01, 7). Knows nothing of pods, networks or Kubernetes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/result.h"
#include "sys/spawn.h"

namespace mnet::plugin {

// The file system that plugins see: our own root, a chroot, or another mount namespace.
struct World {
  std::string root;             // chrootDir; empty: our own root
  std::string mount_namespace;  // delegateMountNamespace; takes precedence over root
};

// `dir/type` in the first directory where it is a regular file (symlinks are followed inside the
// world, absolute ones too). Empty directory names are skipped. Errors have the texts of 01, 7.1.
// Blocks for as long as it takes to stat a few names; in another mount namespace a separate thread
// does that.
Result<std::string> find_plugin(const World& world, const std::string& type,
                                const std::vector<std::string>& dirs);

// Whether the executable is machine code; false for scripts, and for files that cannot be read.
// Blocks as find_plugin() does.
bool is_machine_code(const World& world, const std::string& binary);

struct Invocation {
  World world = {};
  std::string binary;                  // absolute, as seen inside the world
  std::vector<std::string> env;        // the child's whole environment
  std::string config;                  // written to stdin, which is then closed
  aio::Deadline deadline;              // then SIGTERM and, after `grace`, SIGKILL to the group
  std::size_t max_output = 16u << 20;  // of stdout and of stderr, each
  // Called with the child's process id once it runs, so that a later daemon can find its group.
  std::function<void(pid_t)> started = {};
  bool is_expendable = false;  // the kernel kills it before us when memory runs out
  int control_group = -1;      // sys::Program
  // Called when it has ended, before the task does. The text says what else is known of the end,
  // for the error of a plugin that printed none.
  std::function<std::string(const sys::ExitStatus& status)> ended = {};
  // Called with the stderr of a plugin that failed, unless it is empty.
  std::function<void(const std::string& err)> failed = {};
  std::chrono::milliseconds grace = std::chrono::seconds(5);       // zero: SIGKILL at once
  std::chrono::milliseconds busy_pause = std::chrono::seconds(1);  // between tries on ETXTBSY
};

struct Output {
  std::string out;
  std::string err;  // of a plugin that succeeded; the caller logs it
};

// Yields what the plugin printed. If the plugin fails, the error has the object of 01, 7.5 as
// origin(): kPlugin, kTimeout at the deadline, kCancelled. ETXTBSY is tried six times.
// Cancelling, the deadline, and more output than allowed end the child and its process group. The
// task ends once the child is reaped; it does not wait for grandchildren that keep a pipe open.
// SIGPIPE is ignored from the first run on.
aio::Task<Output> run(Invocation what);

// run() in two halves: start() starts the plugin, without retries, and leaves it waiting for its
// configuration; run_started() does the rest. In between there is no deadline; destroying the Child
// ends the plugin and its group.
Result<sys::Child> start(const Invocation& what);
aio::Task<Output> run_started(sys::Child child, Invocation what);

// The environment for a plugin: `inherited` with the given entries set, one entry per name, and a
// default PATH if it has none.
std::vector<std::string> environment(const std::vector<std::string>& inherited,
                                     const std::vector<std::pair<std::string, std::string>>& set);

}  // namespace mnet::plugin
