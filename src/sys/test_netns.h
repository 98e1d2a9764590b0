// A network namespace for a test, gone with it. For tests only; they run in a namespace of their
// own (scripts/in-netns), so nothing here can reach the machine's links.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/text.h"

namespace mnet::sys {

// A process that does nothing in a network namespace of its own.
class TestNetNs {
 public:
  TestNetNs() {
    int ready[2];
    if (::pipe2(ready, O_CLOEXEC) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      const char done = ::unshare(CLONE_NEWNET) == 0 ? '+' : '-';
      if (::write(ready[1], &done, 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    char done = '-';
    is_fresh_ = ::read(ready[0], &done, 1) == 1 && done == '+';
    ::close(ready[0]);
    ::close(ready[1]);
  }
  TestNetNs(const TestNetNs&) = delete;
  TestNetNs& operator=(const TestNetNs&) = delete;
  ~TestNetNs() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  // False without the right to make namespaces.
  bool is_fresh() const { return is_fresh_; }
  std::string path() const { return cat("/proc/", pid_, "/ns/net"); }

  // What a shell command prints in there, and "failed" if it fails.
  std::string run(std::string_view command) const {
    const std::string line = cat("nsenter --net=", path(), " sh -c '", command, "' 2>&1");
    // NOLINTNEXTLINE(bugprone-command-processor): a test's own command
    FILE* pipe = ::popen(line.c_str(), "re");
    if (pipe == nullptr) return "failed";
    std::string out;
    char chunk[4096];
    while (const std::size_t got = std::fread(chunk, 1, sizeof chunk, pipe)) out.append(chunk, got);
    if (::pclose(pipe) != 0) out += "failed";
    return out;
  }

 private:
  pid_t pid_ = -1;
  bool is_fresh_ = false;
};

}  // namespace mnet::sys
