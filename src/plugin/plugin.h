// Finds and runs CNI plugin executables (01, 7). Knows nothing of pods, networks or Kubernetes.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "aio/task.h"
#include "base/log.h"

namespace mnet::plugin {

// Where plugins see their files: our own root, a chroot, or another mount namespace.
struct World {
  std::string root;             // chrootDir; empty: our own root
  std::string mount_namespace;  // delegateMountNamespace; wins over root
};

// `dir/type` in the first directory where it is a regular file (symlinks followed inside the
// world). Empty directories are skipped. The texts of 01, 7.1.
Result<std::string> find_plugin(const World& world, std::string type,
                                const std::vector<std::string>& dirs);

struct Invocation {
  World world = {};
  std::string binary;                  // absolute, as seen inside the world
  std::vector<std::string> env;        // the child's whole environment
  std::string config;                  // written to stdin, which is then closed
  aio::Deadline deadline;              // then SIGTERM, 5 s later SIGKILL to the whole group
  std::size_t max_output = 16u << 20;  // of stdout and of stderr, each
  // Called with the child's process id once it runs; used to note the group for a later daemon.
  std::function<void(pid_t)> started = {};
};

struct Output {
  std::string out;
  std::string err;  // of a plugin that succeeded; the caller logs it
};

// Yields what the plugin printed. A failed one is an Error with the object of 01, 7.5 as origin().
// ETXTBSY is retried for 6 s. Cancelling, or passing the deadline, ends the child; the task ends
// once it is reaped, and does not wait for grandchildren that keep a pipe open.
aio::Task<Output> run(Invocation what);

// The environment for a plugin: `inherited` with the given entries set, one entry per name, PATH
// made sane when it is unset.
std::vector<std::string> environment(const std::vector<std::string>& inherited,
                                     const std::vector<std::pair<std::string, std::string>>& set);

}  // namespace mnet::plugin
