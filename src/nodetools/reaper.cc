#include "nodetools/reaper.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "aio/sleep.h"
#include "aio/task.h"
#include "base/result.h"
#include "base/try.h"

namespace mnet::nodetools {
namespace {

constexpr std::chrono::seconds kPoll{2};
constexpr std::chrono::seconds kMercy{1};

// The number of a child that has ended and was not waited for; 0 if there is none.
pid_t find_dead() {
  siginfo_t info{};
  if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return 0;
  return info.si_pid;
}

}  // namespace

aio::Task<void> reap_orphans() {
  if (::getpid() != 1) co_return Result<void>();
  for (;;) {
    const pid_t dead = find_dead();
    MNET_CO_TRY_VOID(co_await aio::sleep_for(dead == 0 ? kPoll : kMercy));
    if (dead != 0 && find_dead() == dead) ::waitpid(dead, nullptr, WNOHANG);
  }
}

}  // namespace mnet::nodetools
