// Objects of one kind as the API server last told of them. A Reflector fills it; any code on the
// same loop may read it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "aio/event.h"
#include "aio/task.h"
#include "base/try.h"
#include "json/json.h"
#include "kube/objects.h"
#include "kube/sink.h"
#include "kube/watch_event.h"

namespace mnet::kube {

// `Object` has a `key()`.
template <typename Object>
class Store final : public Sink {
 public:
  using Ptr = std::shared_ptr<const Object>;
  // `stored`: how many objects the store has already.
  using Parse = Result<Object> (*)(const json::Object&, std::size_t stored);

  explicit Store(Parse parse) : parse_(parse) {}

  // nullptr if it is not there.
  Ptr find(std::string_view ns, std::string_view name) const {
    std::string key(ns);
    key += '/';
    key += name;
    const auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : found->second;
  }
  std::size_t size() const { return objects_.size(); }
  auto begin_objects() const { return objects_.begin(); }
  auto end_objects() const { return objects_.end(); }

  // Called for each object that came, changed or went, with what was there before and what is there
  // now; nullptr: nothing. After a list, for all that are not the same object.
  using Observer = std::function<void(const Ptr& before, const Ptr& now)>;
  void observe(Observer observer) { observer_ = std::move(observer); }

  // Until anything changes. Look first, then wait, with no co_await between the two.
  aio::Task<void> wait_changed(aio::Deadline deadline) {
    co_return co_await changes_.wait(deadline);
  }

  void begin() override { next_.clear(); }
  Result<void> add(const json::Object& object) override { return put(next_, object); }
  void commit() override {
    const Map before = std::exchange(objects_, std::exchange(next_, {}));
    tell_all(before);
    changes_.notify_all();
  }
  Result<void> change(EventType type, const json::Object& object) override {
    MNET_TRY(auto&& meta, parse_meta(object));
    const auto found = objects_.find(meta.key());
    Ptr before = found == objects_.end() ? nullptr : found->second;
    if (type == EventType::kDeleted) {
      objects_.erase(meta.key());
    } else {
      MNET_TRY(auto&& parsed, parse_(object, objects_.size()));
      if (before == nullptr || !changed_in_place(before, found->second, parsed)) {
        objects_[meta.key()] = std::make_shared<Object>(std::move(parsed));
      }
    }
    if (observer_) observer_(before, find(meta.ns, meta.name));
    changes_.notify_all();
    return {};
  }

 private:
  using Map = std::unordered_map<std::string, std::shared_ptr<Object>>;

  // Where only its state has changed, and it is in no other hands, the object stays where it is. In
  // a burst each pod changes several times: new objects would lie between the blocks of requests,
  // and keep these pages (0047).
  static bool changed_in_place(Ptr& before, const std::shared_ptr<Object>& stored, Object& parsed) {
    if constexpr (requires { exchange_state(*stored, parsed); }) {
      if (stored.use_count() > 2 || !exchange_state(*stored, parsed))
        return false;  // 2: and before
      before = std::make_shared<const Object>(std::move(parsed));
      return true;
    }
    return false;
  }

  Result<void> put(Map& map, const json::Object& object) {
    MNET_TRY(auto&& parsed, parse_(object, map.size()));
    std::string key = parsed.key();
    map[std::move(key)] = std::make_shared<Object>(std::move(parsed));
    return {};
  }

  void tell_all(const Map& before) const {
    if (!observer_) return;
    for (const auto& [key, object] : objects_) {
      const auto found = before.find(key);
      observer_(found == before.end() ? nullptr : found->second, object);
    }
    for (const auto& [key, object] : before) {
      if (!objects_.contains(key)) observer_(object, nullptr);
    }
  }

  Parse parse_;
  Observer observer_;
  Map objects_, next_;
  aio::Notifier changes_;
};

}  // namespace mnet::kube
