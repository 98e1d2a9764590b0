#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <utility>

#include "aio/cancel.h"
#include "aio/failpoint.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/reading.h"
#include "base/result.h"
#include "base/try.h"
#include "plugin/conversation.h"
#include "plugin/failure.h"
#include "plugin/plugin.h"
#include "sys/mount_namespace.h"
#include "sys/spawn.h"

namespace mnet::plugin {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBusyAttempts = 6;

// A plugin that ends without reading its stdin must not end us. Done once, and only if the signal
// still has its default action.
void ignore_broken_pipes() {
  [[maybe_unused]] static const bool done = [] {
    struct sigaction now{};
    if (::sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) {
      now.sa_handler = SIG_IGN;
      ::sigaction(SIGPIPE, &now, nullptr);
    }
    return true;
  }();
}

// 01, 7.3: the error of a run that is over before it began.
Error never_started(Errc code) {
  const bool late = code == Errc::kTimeout;
  return failure(code, {late ? "context deadline exceeded" : "context canceled", ""}, "", "");
}

// Retries on "Text file busy": another process is still writing the executable (01, 7.3).
aio::Task<sys::Child> start_patiently(Invocation what) {
  for (int attempt = 1;; ++attempt) {
    const bool unwanted = co_await aio::cancelled();
    if (unwanted) co_return never_started(Errc::kCancelled);
    if (Clock::now() >= what.deadline) co_return never_started(Errc::kTimeout);

    auto child = start(what);
    if (child) co_return child;
    const Error& error = child.error();
    if (is_shortage(error)) co_return error;  // the machine's fault, not the plugin's
    const bool again = error.os_errno() == ETXTBSY && attempt < kBusyAttempts;
    if (!again) co_return failure(Errc::kPlugin, {error.text(), ""}, "", "");
    auto slept = co_await aio::sleep_until(std::min(Clock::now() + what.busy_pause, what.deadline));
    if (!slept) co_return never_started(Errc::kCancelled);
    if (Clock::now() >= what.deadline) {
      co_return failure(Errc::kTimeout, {error.text(), "it could not start within its time limit"},
                        "", "");
    }
  }
}

}  // namespace

Result<sys::Child> start(const Invocation& what) {
  ignore_broken_pipes();
  sys::Program program{.path = what.binary,
                       .env = what.env,
                       .root = what.world.root,
                       .is_expendable = what.is_expendable,
                       .control_group = what.control_group};
  if (what.world.mount_namespace.empty()) return sys::Child::spawn(program);
  MNET_TRY(auto&& mounts, sys::open_mount_namespace(what.world.mount_namespace));
  program.mount_namespace = mounts.get();
  return sys::Child::spawn(program);
}

aio::Task<Output> run(Invocation what) {
  std::string config = std::exchange(what.config, {});  // one copy is enough
  MNET_CO_TRY(auto&& child, co_await start_patiently(what));
  what.config = std::move(config);
  co_return co_await run_started(std::move(child), std::move(what));
}

aio::Task<Output> run_started(sys::Child child, Invocation what) {
  if (what.started) what.started(child.pid());
  MNET_FAILPOINT("delegate-after-start");
  const auto executor = co_await aio::asio::this_coro::executor;
  Conversation conversation(executor, std::move(child), std::move(what));
  co_return co_await conversation.run();
}

}  // namespace mnet::plugin
