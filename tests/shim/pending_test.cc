// The record of a DEL that reached no daemon, written by the real program.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "process.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::test {
namespace {

using testing::StartsWith;

class PendingDel : public testing::Test {
 protected:
  // So short a time-out leaves one attempt to reach the daemon.
  std::string config(const std::string& cni_dir) const {
    return cat(R"({"name":"n","cniVersion":"1.1.0","shimTimeout":0.001,"daemonSocketDir":")",
               dir_.path(), R"(","cniDir":")", cni_dir, R"("})");
  }
  Finished del(const std::string& cni_dir) const {
    return run({.env = standard_env("DEL"), .text = config(cni_dir)});
  }
  std::string directory() const { return dir_ / "cni/pending-del"; }
  std::optional<std::string> record() const {
    return *sys::find_file(directory() + "/c0ffee-eth0.json");
  }

  sys::TestDir dir_;
};

// 03, 12: rows 85, 159 and 164.
TEST_F(PendingDel, IsWrittenBelowTheConfiguredDirectory) {
  const Finished finished = del(dir_ / "x/y");

  EXPECT_EQ(finished.exit, 0);
  EXPECT_EQ(finished.out, "");
  const std::string path = dir_ / "x/y/pending-del/c0ffee-eth0.json";
  EXPECT_THAT(*sys::read_file(path), StartsWith(R"({"env":{"CNI_ARGS":"K8S_POD_NAME=p",)"));
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
}

// 03, 12: row 164.
TEST_F(PendingDel, ThatCannotBeWrittenIsTheRuntimesToRepeat) {
  const Finished finished = del(dir_.write("file", "") + "/x");

  EXPECT_EQ(finished.exit, 1);
  EXPECT_EQ(finished.error().code, 11u);
}

// A program under ptrace, from system call to system call.
class Traced {
 public:
  explicit Traced(const Program& program, const std::string& stdin_path) {
    std::vector<std::string> env = program.env;
    env.emplace_back("ASAN_OPTIONS=detect_leaks=0");  // that needs ptrace for itself
    std::vector<char*> envp;
    for (std::string& entry : env) envp.push_back(entry.data());
    envp.push_back(nullptr);
    const std::string path = path_of(program.name);
    char* const argv[] = {const_cast<char*>(path.c_str()), nullptr};
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(::open(stdin_path.c_str(), O_RDONLY | O_CLOEXEC), STDIN_FILENO);
      ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      ::execve(path.c_str(), argv, envp.data());
      ::_exit(127);
    }
    ::waitpid(pid_, &status_, 0);
    can_trace_ = WIFSTOPPED(status_) && ::ptrace(PTRACE_SETOPTIONS, pid_, nullptr,
                                                 PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) == 0;
  }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;
  ~Traced() {
    if (WIFSTOPPED(status_)) kill();
  }

  bool can_trace() const { return can_trace_; }
  // To the next entry into or return from a system call; false when the program ended.
  bool step() {
    do {
      ::ptrace(PTRACE_SYSCALL, pid_, nullptr, nullptr);
      ::waitpid(pid_, &status_, 0);
    } while (WIFSTOPPED(status_) && WSTOPSIG(status_) != (SIGTRAP | 0x80));
    return WIFSTOPPED(status_);
  }
  bool is_entering(long call) const {
    __ptrace_syscall_info info{};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): where others have an address, this one has a size
    ::ptrace(PTRACE_GET_SYSCALL_INFO, pid_, reinterpret_cast<void*>(sizeof info), &info);
    return info.op == PTRACE_SYSCALL_INFO_ENTRY &&
           info.entry.nr == static_cast<std::uint64_t>(call);
  }
  void kill() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status_, 0);
  }
  int exit_status() const { return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1; }

 private:
  pid_t pid_ = -1;
  int status_ = 0;
  bool can_trace_ = false;
};

// 03, 12: row 163. `before` is what stood there when the DEL began.
void kill_at_every_step(const sys::TestDir& dir, const Program& program,
                        const std::optional<std::string>& before) {
  const std::string directory = dir / "cni/pending-del";
  const std::string path = directory + "/c0ffee-eth0.json";
  const std::string input = dir.write("in", program.text);
  const auto reset = [&] {
    std::filesystem::remove_all(dir / "cni");
    if (before) dir.write("cni/pending-del/c0ffee-eth0.json", *before);
  };
  reset();
  ASSERT_EQ(run(program).exit, 0);
  const std::optional<std::string> whole = *sys::find_file(path);
  ASSERT_TRUE(whole.has_value());

  for (int steps = 0;; ++steps) {
    reset();
    Traced traced(program, input);
    ASSERT_TRUE(traced.can_trace()) << "ptrace is refused here";
    do {
      ASSERT_TRUE(traced.step()) << "it never tried to reach the daemon";
    } while (!traced.is_entering(SYS_connect));
    bool is_running = true;
    for (int i = 0; i < steps && is_running; ++i) is_running = traced.step();
    if (!is_running) {
      EXPECT_EQ(traced.exit_status(), 0);
      EXPECT_EQ(*sys::find_file(path), whole);
      EXPECT_GT(steps, 20) << "too few steps to have seen the writing";
      return;
    }
    traced.kill();
    const std::optional<std::string> left = *sys::find_file(path);
    EXPECT_TRUE(left == before || left == whole)
        << "after " << steps << ": " << left.value_or("nothing");
  }
}

TEST_F(PendingDel, IsNeverSeenInPartWhereverItsWriterIsKilled) {
  kill_at_every_step(dir_, {.env = standard_env("DEL"), .text = config(dir_ / "cni")},
                     std::nullopt);
}

TEST_F(PendingDel, ReplacesAnOlderOneInOnePieceWhereverItsWriterIsKilled) {
  kill_at_every_step(dir_, {.env = standard_env("DEL"), .text = config(dir_ / "cni")}, "old");
}

// What a killed writer leaves is swept by the daemon; a writer that failed leaves nothing.
TEST_F(PendingDel, LeavesNoTemporaryNameBehindWhenItCannotBeRenamed) {
  std::filesystem::create_directories(directory() + "/c0ffee-eth0.json/in-the-way");

  EXPECT_EQ(del(dir_ / "cni").error().code, 11u);
  EXPECT_THAT(*sys::list_directory(directory()), testing::SizeIs(1));
}

}  // namespace
}  // namespace mnet::test
