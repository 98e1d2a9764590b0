#include "aio/until_signal.h"

#include <unistd.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/system/error_code.hpp>
#include <csignal>
#include <exception>
#include <optional>
#include <utility>

#include "aio/root.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"

namespace mnet::aio {
namespace {

extern "C" void end_at_once(int) { ::_exit(1); }

void let_the_next_end_us(asio::signal_set& signals) {
  boost::system::error_code ignored;
  signals.clear(ignored);
  (void)std::signal(SIGINT, end_at_once);
  (void)std::signal(SIGTERM, end_at_once);
}

}  // namespace

Result<void> run_until_signal(asio::io_context& loop, Task<void> task) {
  asio::signal_set signals(loop, SIGINT, SIGTERM);
  asio::cancellation_signal cancel;
  bool is_listening = true, was_told = false;
  std::optional<Result<void>> outcome;
  signals.async_wait([&](const boost::system::error_code& failed, int) {
    is_listening = false;
    if (failed) return;
    was_told = true;
    let_the_next_end_us(signals);
    cancel.emit(asio::cancellation_type::terminal);
  });
  auto done = [&](const std::exception_ptr&, Result<void> result) {
    outcome.emplace(std::move(result));
    signals.cancel();
  };
  asio::co_spawn(loop, root(std::move(task)),
                 asio::bind_cancellation_slot(cancel.slot(), std::move(done)));
  loop.restart();
  while ((!outcome || is_listening) && loop.run_one() > 0) {
  }
  if (!outcome) return Error(Errc::kBug, "the task never ended");
  if (was_told && !*outcome && outcome->error().code() == Errc::kCancelled) return {};
  return *std::move(outcome);
}

}  // namespace mnet::aio
