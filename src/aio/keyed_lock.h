// A lock for each key: tasks with the same key run one at a time, in order of arrival; tasks with
// different keys run side by side.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "aio/task.h"

namespace mnet::aio {

class KeyedLock {
  struct State;

 public:
  // Holds the key as long as it exists. Movable; may outlive the lock. An empty one holds nothing.
  class Guard {
   public:
    Guard() = default;
    Guard(Guard&&) noexcept = default;
    Guard& operator=(Guard&& other) noexcept;
    ~Guard() { release(); }

    explicit operator bool() const { return state_ != nullptr; }
    // Gives the key to the next in line.
    void release();

   private:
    friend class KeyedLock;
    friend struct State;
    Guard(std::shared_ptr<State> state, std::string key)
        : state_(std::move(state)), key_(std::move(key)) {}
    std::shared_ptr<State> state_;
    std::string key_;
  };

  KeyedLock();
  ~KeyedLock();
  KeyedLock(const KeyedLock&) = delete;
  KeyedLock& operator=(const KeyedLock&) = delete;

  // Waits its turn. kTimeout at the deadline, kCancelled when cancelled; both give up the place in
  // line.
  Task<Guard> lock(std::string key, Deadline deadline = kNoDeadline);

  bool is_free() const;  // no task holds any key
  // How many tasks hold `key` or wait for it.
  std::size_t queue_length(const std::string& key) const;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace mnet::aio
