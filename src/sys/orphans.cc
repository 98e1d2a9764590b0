#include "sys/orphans.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/fd.h"
#include "sys/file.h"

namespace mnet::sys {
namespace {

using std::chrono::steady_clock;

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string proc_path(pid_t pid, std::string_view file) { return cat("/proc/", pid, "/", file); }

// `<pid> (<comm>) <state> <ppid> <pgrp> ...`; start time is field 22. comm may contain anything.
bool read_stat(Process& process) {
  auto stat = read_file(proc_path(process.pid, "stat"), 4096);
  if (!stat) return false;
  const std::size_t after = stat->rfind(") ");
  if (after == std::string::npos) return false;
  const auto fields = split(std::string_view(*stat).substr(after + 2), ' ');
  constexpr std::size_t kState = 0, kParent = 1, kGroup = 2, kStart = 19;
  if (fields.size() <= kStart || fields[kState] == "Z" || fields[kState] == "X") return false;
  process.parent = number_of<pid_t>(fields[kParent]).value_or(0);
  process.group = number_of<pid_t>(fields[kGroup]).value_or(0);
  process.start_time = number_of<std::uint64_t>(fields[kStart]).value_or(0);
  return process.group > 0;
}

std::string command_of(pid_t pid) {
  auto comm = read_file(proc_path(pid, "comm"), 4096);
  return comm ? std::string(trim(*comm)) : std::string();
}

std::optional<Process> find_process(pid_t pid) {
  Process process;
  process.pid = pid;
  if (!read_stat(process)) return std::nullopt;
  // Of kernel threads and of those that are just being started it is empty.
  auto environment = read_file(proc_path(pid, "environ"), 4u << 20);
  if (!environment) return process;
  for (const std::string_view entry : split(*environment, '\0')) {
    if (!entry.empty()) process.environment.emplace_back(entry);
  }
  return process;
}

// A descriptor of exactly this process; none if it has ended.
UniqueFd open_process(const Process& process) {
  UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  Process now;
  now.pid = process.pid;
  // Looked at after it was opened: the process that has the number now is the one the descriptor
  // holds.
  if (!fd || !read_stat(now) || now.start_time != process.start_time) return {};
  return fd;
}

struct Held {
  UniqueFd process;
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

std::optional<std::string> Process::variable(std::string_view name) const {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

Result<std::vector<Process>> list_processes_with(std::string_view variable) {
  MNET_TRY(auto&& entries, list_directory("/proc"));
  std::vector<Process> all;
  std::set<pid_t> groups;
  for (const Entry& entry : entries) {
    const auto pid = number_of<pid_t>(entry.name);
    if (!pid || *pid == ::getpid()) continue;
    auto process = find_process(*pid);
    if (!process) continue;
    if (process->variable(variable)) groups.insert(process->group);
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
    UniqueFd fd = open_process(process);
    if (fd) alive.push_back({std::move(fd), process.group});
  }
  const auto start = steady_clock::now();
  signal_groups(alive, SIGTERM);
  if (await_end(alive, start + grace)) return {};
  signal_groups(alive, SIGKILL);
  if (await_end(alive, start + grace + patience)) return {};
  return Error(Errc::kTimeout, "processes of an earlier run do not end");
}

}  // namespace mnet::sys
