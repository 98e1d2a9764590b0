#include "aio/group.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <exception>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "aio/event.h"
#include "aio/root.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/try.h"

namespace mnet::aio {

struct Group::State : std::enable_shared_from_this<Group::State> {
  // The signal must not move until the task has ended.
  using Running = std::list<asio::cancellation_signal>;

  State(asio::any_io_executor loop, OnError report)
      : executor(std::move(loop)), on_error(std::move(report)) {}

  asio::any_io_executor executor;
  OnError on_error;
  Running running, finished;
  Notifier ended;
  bool closed = false;

  // A cancellation from outside the loop may be queued, and refers to its signal: that goes after.
  void end(Running::iterator place, const std::string& name, const Result<void>& result) {
    finished.splice(finished.end(), running, place);
    asio::post(executor, [state = shared_from_this(), place] { state->finished.erase(place); });
    if (!result && result.error().code() != Errc::kCancelled && on_error) {
      on_error(name, result.error());
    }
    if (running.empty()) ended.notify_all();
  }

  void cancel() {
    // An emit may end a task at once, which removes its place from the list.
    for (auto next = running.begin(); next != running.end();) {
      auto current = next++;
      current->emit(asio::cancellation_type::terminal);
    }
  }

  static Task<void> join(std::shared_ptr<State> state, Deadline deadline) {
    while (!state->running.empty()) {
      MNET_CO_TRY_VOID(co_await state->ended.wait(deadline));
    }
    co_return Result<void>();
  }
};

namespace {

Group::OnError to_log(Log log) {
  return [log = std::move(log)](const std::string& name, const Error& error) {
    log.error(name, error);
  };
}

}  // namespace

Group::Group(asio::any_io_executor executor, Log log)
    : Group(std::move(executor), to_log(std::move(log))) {}

Group::Group(asio::any_io_executor executor, OnError on_error)
    : state_(std::make_shared<State>(std::move(executor), std::move(on_error))) {}

Group::~Group() {
  state_->on_error = nullptr;
  state_->closed = true;
  state_->cancel();
}

bool Group::spawn(std::string name, Task<void> task) {
  if (state_->closed) return false;
  const auto place = state_->running.emplace(state_->running.end());
  auto done = [state = state_, place, name = std::move(name)](const std::exception_ptr&,
                                                              const Result<void>& result) {
    state->end(place, name, result);
  };
  asio::co_spawn(state_->executor, root(std::move(task)),
                 asio::bind_cancellation_slot(place->slot(), std::move(done)));
  return true;
}

void Group::cancel() {
  state_->closed = true;
  state_->cancel();
}

Task<void> Group::join(Deadline deadline) { return State::join(state_, deadline); }

std::size_t Group::size() const { return state_->running.size(); }

}  // namespace mnet::aio
