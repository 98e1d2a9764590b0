#include "plugin/orphans.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/integer.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/fd.h"
#include "sys/file.h"

namespace mnet::plugin {
namespace {

using std::chrono::steady_clock;

std::string proc_path(pid_t pid, std::string_view file) { return cat("/proc/", pid, "/", file); }

// `<pid> (<comm>) <state> <ppid> <pgrp> ...`; start time is field 22. comm may contain anything.
bool read_stat(Process& process) {
  auto stat = sys::read_file(proc_path(process.pid, "stat"), 4096);
  if (!stat) return false;
  const std::size_t after = stat->rfind(") ");
  if (after == std::string::npos) return false;
  const auto fields = split(std::string_view(*stat).substr(after + 2), ' ');
  constexpr std::size_t kState = 0, kParent = 1, kGroup = 2, kStart = 19;
  if (fields.size() <= kStart || fields[kState] == "Z" || fields[kState] == "X") return false;
  process.parent = parse_integer<pid_t>(fields[kParent]).value_or(0);
  process.group = parse_integer<pid_t>(fields[kGroup]).value_or(0);
  process.start_time = parse_integer<std::uint64_t>(fields[kStart]).value_or(0);
  return process.group > 0;
}

std::string command_of(pid_t pid) {
  auto comm = sys::read_file(proc_path(pid, "comm"), 4096);
  return comm ? std::string(trim(*comm)) : std::string();
}

std::optional<Process> find_process(pid_t pid) {
  Process process;
  process.pid = pid;
  if (!read_stat(process)) return std::nullopt;
  return process;
}

// Looks for one variable in an environment that comes in pieces.
class VariableSearch {
 public:
  explicit VariableSearch(std::string_view variable) : wanted_(cat(variable, "=")) {}

  // Takes the next bytes. True once an entry begins with `<variable>=`.
  bool take(std::string_view bytes) {
    while (!bytes.empty()) {
      if (!matches_) {
        const std::size_t end = bytes.find('\0');
        if (end == std::string_view::npos) return false;
        bytes.remove_prefix(end + 1);
        matches_ = true;
        matched_ = 0;
      } else if (bytes.front() != wanted_[matched_]) {
        matches_ = false;
      } else {
        bytes.remove_prefix(1);
        if (++matched_ == wanted_.size()) return true;
      }
    }
    return false;
  }

 private:
  std::string wanted_;
  std::size_t matched_ = 0;  // bytes of wanted_ that the current entry begins with
  bool matches_ = true;      // false: this entry is another variable
};

// The kernel lets exec pass 6 MiB of arguments and environment, but a process may declare any range
// of its memory to be its environment (PR_SET_MM).
constexpr std::size_t kMaxEnvironment = 6u << 20;

// A process that ended has none, and neither has a kernel thread. One that may not be read is not a
// delegate: those have no more privileges than we have.
bool shows_no_environment(int os_errno) {
  return os_errno == ENOENT || os_errno == ESRCH || os_errno == EACCES || os_errno == EPERM;
}

Result<bool> has_variable(pid_t pid, std::string_view variable) {
  const std::string path = proc_path(pid, "environ");
  const sys::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    if (shows_no_environment(errno)) return false;
    return Error::from_errno(errno, cat("open ", path));
  }
  VariableSearch search(variable);
  std::array<char, 16u << 10> piece;
  for (std::size_t have = 0; have < kMaxEnvironment;) {
    const ssize_t got = ::read(fd.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && !shows_no_environment(errno)) {
      return Error::from_errno(errno, cat("read ", path));
    }
    if (got <= 0) return false;
    if (search.take({piece.data(), static_cast<std::size_t>(got)})) return true;
    have += static_cast<std::size_t>(got);
  }
  return false;
}

// The inode number is the namespace's identity; none if it is unknown.
std::optional<ino_t> pid_namespace_of(const std::string& process) {
  struct stat status{};
  if (::stat(cat("/proc/", process, "/ns/pid").c_str(), &status) != 0) return std::nullopt;
  return status.st_ino;
}

// A descriptor of exactly this process; none if it has ended.
sys::UniqueFd open_process(const Process& process) {
  sys::UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  Process now;
  now.pid = process.pid;
  // Looked at after it was opened: the process that has the number now is the one the descriptor
  // holds.
  if (!fd || !read_stat(now) || now.start_time != process.start_time) return {};
  return fd;
}

struct Held {
  sys::UniqueFd process;
  pid_t group;
};

bool has_ended(const Held& held) {
  pollfd entry{held.process.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) != 0;
}

// Through a member that lives: with the last one the number of a group may become another's.
void signal_groups(const std::vector<Held>& processes, int signal) {
  std::set<pid_t> done;
  for (const Held& held : processes) {
    if (!has_ended(held) && done.insert(held.group).second) ::kill(-held.group, signal);
  }
}

// Until all have ended, or it is `until`.
bool await_end(const std::vector<Held>& processes, steady_clock::time_point until) {
  for (const Held& held : processes) {
    for (;;) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now()).count();
      pollfd entry{held.process.get(), POLLIN, 0};
      const int ready = ::poll(&entry, 1, static_cast<int>(std::max<long>(left, 0)));
      if (ready > 0) break;
      if (ready == 0) return false;
      if (errno != EINTR) return false;
    }
  }
  return true;
}

}  // namespace

Result<std::vector<Process>> list_processes_with(std::string_view variable) {
  MNET_TRY(auto&& entries, sys::list_directory("/proc"));
  const auto own_namespace = pid_namespace_of("self");
  std::vector<Process> all;
  std::set<pid_t> groups;
  for (const sys::Entry& entry : entries) {
    const auto pid = parse_integer<pid_t>(entry.name);
    if (!pid || *pid == ::getpid()) continue;
    auto process = find_process(*pid);
    if (!process) continue;
    const auto other_namespace = pid_namespace_of(entry.name);
    if (own_namespace && other_namespace && *own_namespace != *other_namespace) continue;
    MNET_TRY(const bool is_marked, has_variable(*pid, variable));
    if (is_marked) groups.insert(process->group);
    all.push_back(*std::move(process));
  }
  std::erase_if(all, [&groups](const Process& process) { return !groups.contains(process.group); });
  for (Process& process : all) process.parent_command = command_of(process.parent);
  return all;
}

Result<std::vector<Process>> list_orphans(std::string_view variable,
                                          const std::vector<std::string>& owners) {
  MNET_TRY(auto&& processes, list_processes_with(variable));
  std::set<pid_t> owned_groups;
  for (const Process& process : processes) {
    if (std::ranges::find(owners, process.parent_command) != owners.end()) {
      owned_groups.insert(process.group);
    }
  }
  std::erase_if(processes, [&owned_groups](const Process& process) {
    return owned_groups.contains(process.group);
  });
  return processes;
}

Result<void> end_processes(const std::vector<Process>& processes, std::chrono::milliseconds grace,
                           std::chrono::milliseconds patience) {
  std::vector<Held> alive;
  for (const Process& process : processes) {
    sys::UniqueFd fd = open_process(process);
    if (fd) alive.push_back({std::move(fd), process.group});
  }
  const auto start = steady_clock::now();
  signal_groups(alive, SIGTERM);
  if (await_end(alive, start + grace)) return {};
  signal_groups(alive, SIGKILL);
  if (await_end(alive, start + grace + patience)) return {};
  return Error(Errc::kTimeout, "processes of an earlier run do not end");
}

}  // namespace mnet::plugin
