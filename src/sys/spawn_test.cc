#include "sys/spawn.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "sys/fd.h"
#include "sys/file.h"
#include "sys/mount_namespace.h"
#include "sys/test_dir.h"
#include "sys/test_programs.h"

namespace mnet::sys {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

#define NEED_ROOT() \
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: chroot and mount namespaces"

void make_blocking(const UniqueFd& fd) { ::fcntl(fd.get(), F_SETFL, 0); }

std::string all_of(UniqueFd fd) {
  make_blocking(fd);
  return read_all(fd.get(), "pipe").value_or("failed");
}

ExitStatus ended(Child& child) {
  pollfd entry{child.pidfd(), POLLIN, 0};
  EXPECT_EQ(::poll(&entry, 1, 20'000), 1);
  return child.reap().value_or(ExitStatus{.exit_code = -1});
}

// Runs to the end with an empty stdin.
std::string output_of(const Program& program) {
  auto child = Child::spawn(program);
  if (!child) return child.error().text();
  child->take_stdin().reset();
  std::string out = all_of(child->take_stdout());
  ended(*child);
  return out;
}

// Until `cat` answers: the kernel lets us go on a little before an exec is complete.
void await_answer(const UniqueFd& in, const UniqueFd& out) {
  char byte = 'x';
  make_blocking(out);
  ASSERT_EQ(::write(in.get(), &byte, 1), 1);
  ASSERT_EQ(::read(out.get(), &byte, 1), 1);
}

std::string script(const TestDir& dir, std::string_view body) {
  return dir.write("script", cat("#!/bin/sh\n", body), 0755);
}

TEST(Child, TalksThroughThreePipes) {
  const TestDir dir;
  auto child = Child::spawn({.path = script(dir, "cat; echo problem >&2; exit 3\n"), .env = {}});
  ASSERT_TRUE(child.has_value()) << child.error().text();
  UniqueFd in = child->take_stdin();
  ASSERT_EQ(::write(in.get(), "hello", 5), 5);
  in.reset();

  EXPECT_EQ(all_of(child->take_stdout()), "hello");
  EXPECT_EQ(all_of(child->take_stderr()), "problem\n");
  EXPECT_EQ(ended(*child).text(), "exit status 3");
  EXPECT_EQ(child->reap()->exit_code, 3);
}

TEST(Child, MayBeTheFirstThatTheKernelKills) {
  const auto ours = read_file("/proc/self/oom_score_adj");
  Program program{.path = "/bin/cat", .env = {}, .args = {"/proc/self/oom_score_adj"}};

  EXPECT_EQ(output_of(program), ours.value_or(""));
  program.is_expendable = true;
  EXPECT_EQ(output_of(program), "1000\n");
  EXPECT_EQ(read_file("/proc/self/oom_score_adj").value_or(""), ours.value_or("none"));
}

// A group of version 2 below the root of its hierarchy.
class ControlGroup : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
      if (::access(cat(mount, "/cgroup.procs").c_str(), F_OK) != 0) continue;
      folder_ = cat(mount, name_);
      if (::mkdir(folder_.c_str(), 0755) == 0)
        fd_.reset(::open(folder_.c_str(), O_DIRECTORY | O_CLOEXEC));
    }
    if (!fd_) GTEST_SKIP() << "needs control groups of version 2, and root";
  }
  void TearDown() override { ::rmdir(folder_.c_str()); }

  const std::string name_ = cat("/mnet-spawn-test-", ::getpid());
  std::string folder_;
  UniqueFd fd_;
};

TEST_F(ControlGroup, MayBeTheChildsFromItsFirstMoment) {
  const TestDir dir;
  const std::string path = script(dir, "cat /proc/self/cgroup; echo problem >&2; exit 3\n");
  auto child =
      Child::spawn({.path = path, .env = {"PATH=/usr/bin:/bin"}, .control_group = fd_.get()});
  ASSERT_TRUE(child.has_value()) << child.error().text();
  child->take_stdin().reset();

  EXPECT_THAT(all_of(child->take_stdout()), HasSubstr(cat("0::", name_, "\n")));
  EXPECT_EQ(all_of(child->take_stderr()), "problem\n");
  EXPECT_EQ(ended(*child).exit_code, 3);
}

TEST_F(ControlGroup, ThatCannotBeEnteredLeavesTheChildInOurs) {
  const auto ours = read_file("/proc/self/cgroup");
  const UniqueFd no_group(::open("/", O_DIRECTORY | O_CLOEXEC));

  EXPECT_EQ(output_of({.path = "/bin/cat",
                       .env = {},
                       .args = {"/proc/self/cgroup"},
                       .control_group = no_group.get()}),
            ours.value_or("none"));
}

TEST_F(ControlGroup, DoesNotHideWhyAnExecFailed) {
  const TestDir dir;
  const auto child = Child::spawn({.path = dir / "missing", .env = {}, .control_group = fd_.get()});

  ASSERT_FALSE(child.has_value());
  EXPECT_EQ(child.error().text(),
            cat("fork/exec ", dir / "missing", ": no such file or directory"));
}

TEST(Child, TellsHowMuchMemoryItTook) {
  const TestDir dir;
  // A shell that holds a text of 64 MiB.
  auto child = Child::spawn({.path = script(dir, "x=$(head -c 67108864 /dev/zero | tr '\\0' x)\n"),
                             .env = {"PATH=/usr/bin:/bin"}});
  ASSERT_TRUE(child.has_value()) << child.error().text();

  EXPECT_GE(ended(*child).peak_memory, 64u << 20);
}

TEST(Child, MayShareOurOutput) {
  const TestDir dir;
  const UniqueFd before(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  const UniqueFd file(::open((dir / "out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::dup2(file.get(), STDOUT_FILENO), STDOUT_FILENO);

  auto child = Child::spawn({.path = "/bin/sh",
                             .env = {"PATH=/usr/bin:/bin"},
                             .args = {"-c", "cat; echo said"},
                             .shares_output = true});

  ASSERT_EQ(::dup2(before.get(), STDOUT_FILENO), STDOUT_FILENO);
  ASSERT_TRUE(child.has_value()) << child.error().text();
  EXPECT_TRUE(ended(*child).success());
  EXPECT_EQ(read_file(dir / "out").value_or(""), "said\n");
}

TEST(Child, GetsItsPathAsOnlyArgumentAndNoOtherEnvironment) {
  const TestDir dir;
  const std::string path = script(dir, "echo \"$# $0 $A\"; echo \"$HOME|\"\n");

  EXPECT_EQ(output_of({.path = path, .env = {"A=b=c", "PATH=/bin:/usr/bin"}}),
            "0 " + path + " b=c\n|\n");
}

// Rows I24 of chapter 01 and 136 of chapter 03.
TEST(Child, HasOnlyStandardDescriptorsDefaultSignalsAndAGroupOfItsOwn) {
  const UniqueFd leaky(::open("/dev/null", O_RDONLY));  // NOLINT(android-cloexec-open): on purpose
  struct sigaction before;
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before);
  sigset_t usr1, old_mask;
  ::sigemptyset(&usr1);
  ::sigaddset(&usr1, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &usr1, &old_mask);

  auto child = Child::spawn({.path = "/bin/cat", .env = {}});

  ::pthread_sigmask(SIG_SETMASK, &old_mask, nullptr);
  ::sigaction(SIGPIPE, &before, nullptr);
  ASSERT_TRUE(child.has_value());
  const UniqueFd in = child->take_stdin();
  await_answer(in, child->take_stdout());
  auto descriptors = list_directory(cat("/proc/", child->pid(), "/fd"));
  ASSERT_TRUE(descriptors.has_value());
  EXPECT_THAT(*descriptors,
              ElementsAre(testing::Field(&Entry::name, "0"), testing::Field(&Entry::name, "1"),
                          testing::Field(&Entry::name, "2")));
  auto status = read_file(cat("/proc/", child->pid(), "/status"));
  EXPECT_THAT(*status, HasSubstr("SigBlk:\t0000000000000000"));
  EXPECT_THAT(*status, HasSubstr("SigIgn:\t0000000000000000"));
  EXPECT_EQ(::getpgid(child->pid()), child->pid());
  EXPECT_EQ(fs::read_symlink(cat("/proc/", child->pid(), "/cwd")), fs::current_path());
}

TEST(Child, StartsWhenWeHaveNoStandardDescriptors) {
  // A process without 0-2, as an odd supervisor may start us.
  const TestDir dir;
  const std::string path = script(dir, "cat >/dev/null; echo out; echo err >&2\n");
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (int fd = 0; fd < 3; ++fd) ::close(fd);
    auto child = Child::spawn({.path = path, .env = {}});
    if (!child) ::_exit(1);
    child->take_stdin().reset();
    const bool same =
        all_of(child->take_stdout()) == "out\n" && all_of(child->take_stderr()) == "err\n";
    ::_exit(same ? 0 : 2);
  }
  int status = -1;
  ::waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Child, ReportsAFailedExecWithItsErrno) {
  const TestDir dir;
  const std::string plain = dir.write("plain", "#!/bin/sh\n", 0644);

  auto missing = Child::spawn({.path = dir / "none", .env = {}});
  auto denied = Child::spawn({.path = plain, .env = {}});

  EXPECT_EQ(missing.error().text(), "fork/exec " + (dir / "none") + ": no such file or directory");
  EXPECT_EQ(denied.error().text(), "fork/exec " + plain + ": permission denied");
  EXPECT_EQ(denied.error().os_errno(), EACCES);
  // Neither is left behind as a zombie.
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(Child, ReportsABusyExecutable) {
  const TestDir dir;
  fs::copy_file(test_tool("empty-program"), dir / "busy");
  const UniqueFd writer(::open((dir / "busy").c_str(), O_WRONLY | O_CLOEXEC));

  EXPECT_EQ(Child::spawn({.path = dir / "busy", .env = {}}).error().os_errno(), ETXTBSY);
}

TEST(Child, TellsSignalsByTheirGoNames) {
  const TestDir dir;
  auto child = Child::spawn({.path = script(dir, "kill -TERM $$\n"), .env = {}});

  EXPECT_EQ(ended(*child).text(), "signal: terminated");
  EXPECT_EQ((ExitStatus{.signal = SIGSEGV, .core_dumped = true}.text()),
            "signal: segmentation fault (core dumped)");
  EXPECT_EQ((ExitStatus{.signal = SIGKILL}.text()), "signal: killed");
  EXPECT_EQ((ExitStatus{.signal = SIGXCPU}.text()), "signal: signal 24");
}

TEST(Child, SignalReachesTheWholeGroup) {
  const TestDir dir;
  auto child = Child::spawn({.path = script(dir, "sleep 100 & sleep 100 & echo up; wait\n"),
                             .env = {"PATH=/bin:/usr/bin"}});
  UniqueFd out = child->take_stdout();
  make_blocking(out);
  char up[3];
  ASSERT_EQ(::read(out.get(), up, 3), 3);

  child->signal_group(SIGKILL);

  // The pipe ends only when the last sleeper is gone.
  EXPECT_EQ(all_of(std::move(out)), "");
  EXPECT_EQ(ended(*child).text(), "signal: killed");
}

TEST(Child, IsKilledAndReapedWhenDropped) {
  pid_t pid = 0;
  {
    auto child = Child::spawn({.path = "/bin/cat", .env = {}});
    pid = child->pid();
    Child moved = *std::move(child);
    EXPECT_EQ(moved.pid(), pid);
    EXPECT_FALSE(moved.reap().has_value());
  }

  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(Child, LivesInItsChroot) {
  NEED_ROOT();
  const TestDir dir;
  fs::create_directories(dir / "root/opt");
  fs::copy_file(test_tool("instant-delegate"), dir / "root/opt/plugin");

  auto child = Child::spawn({.path = "/opt/plugin", .env = {}, .root = dir / "root"});

  ASSERT_TRUE(child.has_value()) << child.error().text();
  EXPECT_EQ(fs::read_symlink(cat("/proc/", child->pid(), "/root")), dir / "root");
  EXPECT_EQ(fs::read_symlink(cat("/proc/", child->pid(), "/cwd")), dir / "root");
  child->take_stdin().reset();
  EXPECT_TRUE(ended(*child).success());
}

TEST(Child, NamesAChrootThatIsNone) {
  NEED_ROOT();
  EXPECT_EQ(Child::spawn({.path = "/x", .env = {}, .root = "/none"}).error().text(),
            "fork/exec /x: chroot /none: no such file or directory");
}

// A mount namespace in which `directory` is an empty tmpfs holding only instant-delegate.
UniqueFd namespace_with_plugin_in(const std::string& directory) {
  UniqueFd made;
  std::thread([&made, &directory] {
    if (::unshare(CLONE_FS | CLONE_NEWNS) != 0) return;
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
    const std::string source = test_tool("instant-delegate");
    auto bytes = read_file(source);
    if (!bytes || ::mount("none", directory.c_str(), "tmpfs", 0, nullptr) != 0) return;
    if (!replace_file(directory + "/plugin", *bytes, 0755)) return;
    made.reset(::open("/proc/thread-self/ns/mnt", O_RDONLY | O_CLOEXEC));
  }).join();
  return made;
}

TEST(Child, LivesInAnotherMountNamespace) {
  NEED_ROOT();
  const TestDir dir;
  const UniqueFd space = namespace_with_plugin_in(dir.path());
  ASSERT_TRUE(space);
  const std::string path = dir / "plugin";
  ASSERT_FALSE(fs::exists(path));

  auto child = Child::spawn({.path = path, .env = {}, .mount_namespace = space.get()});

  ASSERT_TRUE(child.has_value()) << child.error().text();
  struct stat theirs{};
  struct stat wanted{};
  ASSERT_EQ(::stat(cat("/proc/", child->pid(), "/ns/mnt").c_str(), &theirs), 0);
  ASSERT_EQ(::fstat(space.get(), &wanted), 0);
  EXPECT_EQ(theirs.st_ino, wanted.st_ino);
  EXPECT_EQ(fs::read_symlink(cat("/proc/", child->pid(), "/cwd")), "/");
  child->take_stdin().reset();
  EXPECT_TRUE(ended(*child).success());
}

TEST(LookInMountNamespace, SeesWhatIsThereAndLeavesUsWhereWeAre) {
  NEED_ROOT();
  const TestDir dir;
  const UniqueFd space = namespace_with_plugin_in(dir.path());
  const std::string name = cat("/proc/self/fd/", space.get());
  bool seen = false;

  auto looked = look_in_mount_namespace(name, [&] { seen = fs::exists(dir / "plugin"); });

  ASSERT_TRUE(looked.has_value()) << looked.error().text();
  EXPECT_TRUE(seen);
  EXPECT_FALSE(fs::exists(dir / "plugin"));
}

TEST(LookInMountNamespace, RefusesWhatIsNoMountNamespace) {
  auto wrong = look_in_mount_namespace("/proc/self/ns/net", [] { FAIL(); });
  auto missing = look_in_mount_namespace("/none", [] { FAIL(); });

  EXPECT_EQ(wrong.error().text(), "/proc/self/ns/net: not a mount namespace");
  EXPECT_EQ(missing.error().code(), Errc::kNotFound);
}

}  // namespace
}  // namespace mnet::sys
