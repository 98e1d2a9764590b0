#include "sys/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <initializer_list>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "sys/fd.h"

namespace mnet::sys {

Result<Signals> Signals::take_over(std::initializer_list<int> numbers) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : numbers) ::sigaddset(&set, number);
  if (const int failure = ::pthread_sigmask(SIG_BLOCK, &set, nullptr); failure != 0) {
    return Error::from_errno(failure, "blocking signals");
  }
  UniqueFd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return Error::from_errno(errno, "signalfd");
  return Signals(std::move(fd));
}

std::optional<int> Signals::take() {
  signalfd_siginfo info{};
  if (::read(fd_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

void reset_signals() {
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGCHLD, SIG_DFL);
}

}  // namespace mnet::sys
