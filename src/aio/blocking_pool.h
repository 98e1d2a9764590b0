// A few threads for calls that block: entering a network namespace, fsync, netlink.
#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "aio/task.h"

namespace mnet::aio {

// Starts threads when there is work for them, at most `threads`. All signals are blocked in them. A
// thread that a call left in another network namespace (sys::this_thread_is_astray) does no further
// work: it ends, and another takes its place.
class BlockingPool {
 public:
  explicit BlockingPool(std::size_t threads);
  // Waits for running calls. Queued calls never run; the coroutines that await them are destroyed
  // with the loop. The loop must outlive the pool.
  ~BlockingPool();
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  // Calls `call`, which yields a Result<T>, on one of the threads, first come first served; the
  // task then resumes on its own executor. Cancelling has no effect: the call cannot be stopped,
  // and what it refers to must outlive it. It is destroyed on the thread that ran it. kUnavailable
  // if there is no thread and none can be started.
  template <typename Call>
  auto run(Call call) -> asio::awaitable<std::invoke_result_t<Call&>> {
    using Outcome = std::invoke_result_t<Call&>;
    std::optional<Outcome> outcome;
    auto initiate = [this, &outcome, &call](auto handler) {
      const auto executor = asio::get_associated_executor(handler);
      // The loop must not run dry while only the pool works.
      auto work = asio::make_work_guard(executor);
      submit([&outcome, call = std::move(call), handler = std::move(handler),
              work = std::move(work)](bool has_thread) mutable {
        {
          Call ran = std::move(call);  // destroyed before the waiting task resumes
          outcome.emplace(has_thread ? guarded(ran) : Outcome(no_thread_error()));
        }
        asio::post(work.get_executor(), std::move(handler));
      });
    };
    co_await asio::async_initiate<decltype(asio::use_awaitable), void()>(initiate,
                                                                         asio::use_awaitable);
    // It has a value: the handler runs only after it was set.
    co_return *std::move(outcome);
  }

  // For a call on one of the threads: makes these calls, which must not throw, on its own thread
  // and on others that have nothing to do, and ends when all have ended. The loop hears of nothing.
  using Part = std::move_only_function<void()>;
  void side_by_side(std::vector<Part> parts);

  // Threads that exist now; for tests.
  std::size_t threads() const;

 private:
  using Job = std::move_only_function<void(bool has_thread)>;

  template <typename Call>
  static std::invoke_result_t<Call&> guarded(Call& call) {
    try {
      return call();
    } catch (const std::exception& thrown) {
      return exception_error(thrown.what());
    } catch (...) {
      return exception_error("of an unknown type");
    }
  }
  static Error no_thread_error();
  static Error exception_error(const char* what);
  void submit(Job job);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mnet::aio
