#include "aio/keyed_lock.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "aio/task.h"
#include "aio/waiter.h"
#include "base/try.h"

namespace mnet::aio {

// A key is in the map while a guard holds it; the tasks that wait for it are in its list.
struct KeyedLock::State {
  std::map<std::string, Waiter::List> held;

  void release(const std::string& key) {
    const auto found = held.find(key);
    if (found->second.empty()) {
      held.erase(found);
    } else {
      found->second.front()->wake();  // the woken task holds the key from now on
    }
  }

  static Task<Guard> lock(std::shared_ptr<State> state, std::string key, Deadline deadline) {
    const auto executor = co_await asio::this_coro::executor;
    const auto [place, is_free] = state->held.try_emplace(key);
    if (is_free) co_return Guard(state, std::move(key));

    Waiter self(executor, place->second);
    MNET_CO_TRY_VOID(co_await self.wait(deadline));
    co_return Guard(state, std::move(key));
  }
};

KeyedLock::KeyedLock() : state_(std::make_shared<State>()) {}
KeyedLock::~KeyedLock() = default;

Task<KeyedLock::Guard> KeyedLock::lock(std::string key, Deadline deadline) {
  return State::lock(state_, std::move(key), deadline);
}

bool KeyedLock::is_free() const { return state_->held.empty(); }

std::size_t KeyedLock::queue_length(const std::string& key) const {
  const auto found = state_->held.find(key);
  return found == state_->held.end() ? 0 : 1 + found->second.size();
}

KeyedLock::Guard& KeyedLock::Guard::operator=(Guard&& other) noexcept {
  if (this == &other) return *this;
  release();
  state_ = std::move(other.state_);
  key_ = std::move(other.key_);
  return *this;
}

void KeyedLock::Guard::release() {
  if (const auto state = std::exchange(state_, nullptr)) state->release(key_);
}

}  // namespace mnet::aio
