#include "aio/waiter.h"

#include <utility>

#include "aio/cancel.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"

namespace mnet::aio {

Waiter::Waiter(const asio::any_io_executor& executor, List& list)
    : timer_(executor), list_(&list), place_(list.insert(list.end(), this)) {}

Waiter::~Waiter() { leave(); }

void Waiter::leave() {
  if (List* list = std::exchange(list_, nullptr)) list->erase(place_);
}

void Waiter::wake() {
  leave();
  woken_ = true;
  timer_.cancel();
}

Task<void> Waiter::wait(Deadline deadline) {
  const bool too_late = co_await cancelled();
  if (too_late && !woken_) co_return cancelled_error();
  if (woken_) co_return Result<void>();

  timer_.expires_at(deadline);
  auto [ended] = co_await timer_.async_wait(kAsValue);
  if (woken_) co_return Result<void>();
  if (!ended) co_return Error(Errc::kTimeout, "deadline exceeded");
  co_return cancelled_error();
}

}  // namespace mnet::aio
