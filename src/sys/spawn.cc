// What runs between fork and exec shares its memory with us and must be async-signal-safe from end
// to end: it sees only the Plan, which is complete before.
#include "sys/spawn.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/fd.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MNET_PLAIN_FORK 1  // its run time aborts in a child that shares our memory
#endif
#endif

// The child stands on a stack that the sanitizers know nothing of.
#define MNET_IN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

namespace mnet::sys {
namespace {

enum class Step : std::uint8_t { kExec, kChroot, kMountNamespace, kDescriptors, kProcessGroup };

struct Plan {
  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* envp = nullptr;
  const char* root = nullptr;
  int mount_namespace = -1;
  bool is_expendable = false;
  int control_group = -1;
  std::array<int, 3> stdio = {-1, -1, -1};
  // Written by the child if it fails.
  int failed_errno = 0;
  Step failed_step = Step::kExec;
};

MNET_IN_CHILD bool fail(Plan& plan, Step step) {
  plan.failed_step = step;
  plan.failed_errno = errno;
  return false;
}

// Ignored signals survive an exec; handlers must not run in here once the mask is empty.
// By the kernel's own call: glibc's leaves out the two signals it keeps for itself, and our parent
// may have had those ignored.
MNET_IN_CHILD void reset_signals() {
  constexpr std::size_t kMaskBytes = 8;
  // All zero is SIG_DFL, no flags and an empty mask, wherever the members lie on this machine.
  const unsigned long standard[8] = {};
  for (int signal = 1; signal < NSIG; ++signal) {
    ::syscall(SYS_rt_sigaction, signal, standard, nullptr, kMaskBytes);
  }
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, standard, nullptr, kMaskBytes);
}

MNET_IN_CHILD void keep_only_stdio() {
  if (::syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) == 0) return;
  // An old kernel. What we open ourselves is close-on-exec anyway; this is for what we inherited.
  struct rlimit limit;
  const bool known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536;
  const int end = known ? static_cast<int>(limit.rlim_cur) : 65536;
  for (int fd = 3; fd < end; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

MNET_IN_CHILD bool enter_world(Plan& plan) {
  if (plan.mount_namespace >= 0) {
    // setns asks for a root and working directory that are not shared. A clone without
    // CLONE_FS has them, but thread sanitizer starts a thread after a fork.
    if (::unshare(CLONE_FS) != 0 || ::setns(plan.mount_namespace, CLONE_NEWNS) != 0 ||
        ::chdir("/") != 0) {
      return fail(plan, Step::kMountNamespace);
    }
  } else if (plan.root != nullptr) {
    if (::chroot(plan.root) != 0 || ::chdir("/") != 0) return fail(plan, Step::kChroot);
  }
  return true;
}

// Raising it is always allowed. A child of CLONE_VFORK has a score of its own although it still
// shares our memory. Where it cannot be set (no /proc), the child is as we are.
MNET_IN_CHILD void become_expendable() {
  const int score = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score < 0) return;
  [[maybe_unused]] const auto written = ::write(score, "1000", 4);
  ::close(score);
}

MNET_IN_CHILD bool become(Plan& plan) {
  if (::setpgid(0, 0) != 0) return fail(plan, Step::kProcessGroup);
  if (plan.is_expendable) become_expendable();
  for (int i = 0; i < 3; ++i) {
    if (::dup2(plan.stdio[i], i) < 0) return fail(plan, Step::kDescriptors);
  }
  if (!enter_world(plan)) return false;
  keep_only_stdio();
  reset_signals();
  ::execve(plan.path, plan.argv, plan.envp);
  return fail(plan, Step::kExec);
}

struct Started {
  pid_t pid = -1;
  UniqueFd pidfd;
  int failed_errno = 0;  // of the fork itself
};

// 5.7 or newer, and not every seccomp profile lets it pass.
pid_t fork_into(int control_group, int* pidfd) {
  clone_args args{};
  args.flags = CLONE_INTO_CGROUP | CLONE_PIDFD;
  args.pidfd = reinterpret_cast<std::uintptr_t>(pidfd);
  args.exit_signal = SIGCHLD;
  args.cgroup = static_cast<std::uint64_t>(control_group);
  return static_cast<pid_t>(::syscall(SYS_clone3, &args, sizeof args));
}

// With a copy of our memory, so that what failed comes back through a pipe. `fork` yields a pidfd,
// too.
template <typename Fork>
Started start_in_copy(Plan& plan, Fork fork) {
  Started out;
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) {
    out.failed_errno = errno;
    return out;
  }
  const UniqueFd reader(report[0]);
  UniqueFd writer(report[1]);
  int pidfd = -1;
  out.pid = fork(&pidfd);
  if (out.pid == 0) {
    become(plan);
    const int words[2] = {plan.failed_errno, static_cast<int>(plan.failed_step)};
    [[maybe_unused]] const auto written = ::write(writer.get(), words, sizeof words);
    ::_exit(127);
  }
  if (out.pid < 0) {
    out.failed_errno = errno;
    return out;
  }
  writer.reset();
  int words[2] = {};
  if (::read(reader.get(), words, sizeof words) == sizeof words) {
    plan.failed_errno = words[0];
    plan.failed_step = static_cast<Step>(words[1]);
  }
  out.pidfd.reset(pidfd);
  return out;
}

#ifdef MNET_PLAIN_FORK

Started start_in_our_group(Plan& plan) {
  return start_in_copy(plan, [](int* pidfd) {
    const pid_t pid = ::fork();
    if (pid > 0) *pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    return pid;
  });
}

#else

MNET_IN_CHILD int child_main(void* plan) {
  become(*static_cast<Plan*>(plan));
  ::_exit(127);
}

constexpr std::size_t kChildStack = 64u << 10;

// As vfork: the child runs in our memory, on a stack of its own, while this thread waits. Nothing
// is copied but the table of descriptors.
Started start_in_our_group(Plan& plan) {
  Started out;
  const auto stack = std::make_unique_for_overwrite<char[]>(kChildStack);
  int pidfd = -1;
  out.pid = ::clone(child_main, stack.get() + kChildStack,
                    CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &plan, &pidfd);
  if (out.pid < 0) out.failed_errno = errno;
  out.pidfd.reset(pidfd);
  return out;
}

#endif

// glibc's clone, which knows how to share memory, knows no control groups.
Started start(Plan& plan) {
  if (plan.control_group >= 0) {
    Started started =
        start_in_copy(plan, [&plan](int* pidfd) { return fork_into(plan.control_group, pidfd); });
    if (started.failed_errno == 0) return started;
  }
  return start_in_our_group(plan);
}

// No handler of ours may run in the child, which shares our memory.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t every;
    ::sigfillset(&every);
    ::pthread_sigmask(SIG_SETMASK, &every, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

struct Pipe {
  UniqueFd reader, writer;
};

std::uint64_t peak_of(const rusage& used) {
  return static_cast<std::uint64_t>(used.ru_maxrss) << 10;  // the kernel counts in KiB
}

// Above 2, or dup2 in the child would overwrite one end with another.
UniqueFd above_stdio(int fd) {
  UniqueFd low(fd);
  if (fd < 0 || fd > 2) return low;
  return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error::from_errno(errno, "pipe");
  Pipe out;
  out.reader = above_stdio(ends[0]);
  out.writer = above_stdio(ends[1]);
  if (!out.reader || !out.writer) return Error::from_errno(errno, "dup");
  return out;
}

void set_non_blocking(const UniqueFd& fd) { ::fcntl(fd.get(), F_SETFL, O_NONBLOCK); }

// What the child gets as its standard descriptors, and our ends of it.
struct Stdio {
  std::array<UniqueFd, 3> theirs, ours;
};

Result<Stdio> make_pipes() {
  MNET_TRY(auto&& in, make_pipe());
  MNET_TRY(auto&& out, make_pipe());
  MNET_TRY(auto&& err, make_pipe());
  Stdio stdio;
  stdio.theirs = {std::move(in.reader), std::move(out.writer), std::move(err.writer)};
  stdio.ours = {std::move(in.writer), std::move(out.reader), std::move(err.reader)};
  for (const UniqueFd& fd : stdio.ours) set_non_blocking(fd);
  return stdio;
}

// A descriptor of ours that is closed is replaced by /dev/null.
Result<Stdio> share_output() {
  Stdio stdio;
  for (int fd = 0; fd < 3; ++fd) {
    int copy = fd == 0 ? -1 : ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (copy < 0) copy = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    stdio.theirs[static_cast<std::size_t>(fd)] = above_stdio(copy);
    if (!stdio.theirs[static_cast<std::size_t>(fd)]) {
      return Error::from_errno(errno, "open /dev/null");
    }
  }
  return stdio;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  // execve promises not to write through them.
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

Error start_error(const Program& program, const Plan& plan) {
  std::string doing = cat("fork/exec ", program.path);
  switch (plan.failed_step) {
    case Step::kExec:
      break;
    case Step::kChroot:
      doing += cat(": chroot ", program.root);
      break;
    case Step::kMountNamespace:
      doing += ": entering the mount namespace";
      break;
    case Step::kDescriptors:
      doing += ": dup";
      break;
    case Step::kProcessGroup:
      doing += ": setpgid";
      break;
  }
  return Error::from_errno(plan.failed_errno, doing);
}

}  // namespace

Result<Child> Child::spawn(const Program& program) {
  MNET_TRY(auto&& stdio, program.shares_output ? share_output() : make_pipes());

  const std::vector<char*> envp = pointers_to(program.env);
  std::vector<char*> argv = pointers_to(program.args);
  argv.insert(argv.begin(), const_cast<char*>(program.path.c_str()));
  Plan plan;
  plan.path = program.path.c_str();
  plan.argv = argv.data();
  plan.envp = envp.data();
  plan.root = program.root.empty() ? nullptr : program.root.c_str();
  plan.mount_namespace = program.mount_namespace;
  plan.is_expendable = program.is_expendable;
  plan.control_group = program.control_group;
  plan.stdio = {stdio.theirs[0].get(), stdio.theirs[1].get(), stdio.theirs[2].get()};

  Started started;
  {
    const SignalsBlocked blocked;
    started = start(plan);
  }
  if (started.failed_errno != 0) {
    return Error::from_errno(started.failed_errno, cat("fork/exec ", program.path));
  }

  Child child;
  child.pid_ = started.pid;
  child.pidfd_ = std::move(started.pidfd);
  if (plan.failed_errno != 0) return start_error(program, plan);  // ~Child reaps it
  child.stdin_ = std::move(stdio.ours[0]);
  child.stdout_ = std::move(stdio.ours[1]);
  child.stderr_ = std::move(stdio.ours[2]);
  return child;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      stdin_(std::move(other.stdin_)),
      stdout_(std::move(other.stdout_)),
      stderr_(std::move(other.stderr_)),
      status_(other.status_) {}

Child& Child::operator=(Child&& other) noexcept {
  if (this == &other) return *this;
  end();
  pid_ = std::exchange(other.pid_, -1);
  pidfd_ = std::move(other.pidfd_);
  stdin_ = std::move(other.stdin_);
  stdout_ = std::move(other.stdout_);
  stderr_ = std::move(other.stderr_);
  status_ = other.status_;
  return *this;
}

Child::~Child() { end(); }

void Child::end() {
  if (pid_ < 0 || reap()) return;
  signal_group(SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Child::signal_group(int signal) const {
  if (pid_ > 0 && !status_) ::kill(-pid_, signal);
}

std::optional<ExitStatus> Child::reap() {
  if (status_ || pid_ < 0) return status_;
  int ended = 0;
  rusage used{};
  const pid_t found = ::wait4(pid_, &ended, WNOHANG, &used);
  if (found < 0) {
    // Another thread or a library reaped it: nothing is left to be learned.
    if (errno == ECHILD) status_ = ExitStatus{.exit_code = 255};
    return status_;
  }
  if (found == 0) return std::nullopt;
  ExitStatus status;
  if (WIFEXITED(ended)) {
    status.exit_code = WEXITSTATUS(ended);
  } else {
    status.signal = WTERMSIG(ended);
    status.core_dumped = WCOREDUMP(ended);
  }
  status.peak_memory = peak_of(used);
  status_ = status;
  return status_;
}

std::uint64_t own_peak_memory() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return peak_of(used);
}

std::string ExitStatus::text() const {
  if (signal == 0) return cat("exit status ", exit_code);
  // As Go names them; it knows no others.
  constexpr std::array<std::string_view, 16> kNames = {"",
                                                       "hangup",
                                                       "interrupt",
                                                       "quit",
                                                       "illegal instruction",
                                                       "trace/breakpoint trap",
                                                       "aborted",
                                                       "bus error",
                                                       "floating point exception",
                                                       "killed",
                                                       "user defined signal 1",
                                                       "segmentation fault",
                                                       "user defined signal 2",
                                                       "broken pipe",
                                                       "alarm clock",
                                                       "terminated"};
  const auto number = static_cast<std::size_t>(signal);
  const std::string name =
      number < kNames.size() ? std::string(kNames[number]) : cat("signal ", signal);
  return cat("signal: ", name, core_dumped ? " (core dumped)" : "");
}

}  // namespace mnet::sys
