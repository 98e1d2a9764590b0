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

// Where plugins see their files: our own root, a chroot, or another mount namespace.
struct World {
  std::string root;             // chrootDir; empty: our own root
  std::string mount_namespace;  // delegateMountNamespace; wins over root
};

// `dir/type` in the first directory where it is a regular file (symlinks followed inside the
// world, absolute ones too). Empty directories are skipped. The texts of 01, 7.1. Blocks for as
// long as looking at a few names takes; in another mount namespace a thread of its own does that.
Result<std::string> find_plugin(const World& world, const std::string& type,
                                const std::vector<std::string>& dirs);

// Whether the executable is machine code; false for scripts, and for what cannot be read. Blocks as
// find_plugin() does.
bool is_machine_code(const World& world, const std::string& binary);

struct Invocation {
  World world = {};
  std::string binary;                  // absolute, as seen inside the world
  std::vector<std::string> env;        // the child's whole environment
  std::string config;                  // written to stdin, which is then closed
  aio::Deadline deadline;              // then SIGTERM, after `grace` SIGKILL to the whole group
  std::size_t max_output = 16u << 20;  // of stdout and of stderr, each
  // Called with the child's process id once it runs; used to note the group for a later daemon.
  std::function<void(pid_t)> started = {};
  // Called with what a plugin that failed had written to stderr, if it wrote anything.
  std::function<void(const std::string& err)> failed = {};
  std::chrono::milliseconds grace = std::chrono::seconds(5);       // zero: SIGKILL at once
  std::chrono::milliseconds busy_pause = std::chrono::seconds(1);  // between tries on ETXTBSY
};

struct Output {
  std::string out;
  std::string err;  // of a plugin that succeeded; the caller logs it
};

// Yields what the plugin printed. A failed one is an Error with the object of 01, 7.5 as origin():
// kPlugin, kTimeout at the deadline, kCancelled. ETXTBSY is tried six times.
// Cancelling, or passing the deadline, ends the child and its process group; the task ends once it
// is reaped, and does not wait for grandchildren that keep a pipe open. More output than allowed
// ends it too. SIGPIPE is ignored from the first run on.
aio::Task<Output> run(Invocation what);

// run() in two halves: starts the plugin, once, and leaves it waiting for its configuration; hands
// that to it. In between there is no deadline, and a child that goes is ended with its group.
Result<sys::Child> start(const Invocation& what);
aio::Task<Output> run_started(sys::Child child, Invocation what);

// The environment for a plugin: `inherited` with the given entries set, one entry per name, PATH
// made sane when it is unset.
std::vector<std::string> environment(const std::vector<std::string>& inherited,
                                     const std::vector<std::pair<std::string, std::string>>& set);

// Asks a plugin which versions it supports (01, 7.6). `what` needs world, binary, deadline and the
// environment to start from.
aio::Task<std::vector<std::string>> fetch_versions(Invocation what);

// For plugins that call plugins (01, 7.7): runs `type`, found in the CNI_PATH of `own_environment`,
// with that environment and only CNI_COMMAND replaced. Yields stdout; nothing of ours is changed.
aio::Task<Output> delegate(std::string command, std::string type, std::string config,
                           std::vector<std::string> own_environment, aio::Deadline deadline);

}  // namespace mnet::plugin
