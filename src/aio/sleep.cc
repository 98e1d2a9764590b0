#include "aio/sleep.h"

#include <boost/asio/steady_timer.hpp>
#include <chrono>

#include "aio/cancel.h"
#include "aio/task.h"
#include "base/result.h"

namespace mnet::aio {

Task<void> sleep_until(Deadline when) {
  const bool too_late = co_await cancelled();
  if (too_late) co_return cancelled_error();
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor, when);
  auto [ended] = co_await timer.async_wait(kAsValue);
  if (ended) co_return cancelled_error();
  co_return Result<void>();
}

Task<void> sleep_for(std::chrono::steady_clock::duration time) {
  return sleep_until(std::chrono::steady_clock::now() + time);
}

}  // namespace mnet::aio
