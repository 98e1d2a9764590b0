// Owns coroutines: starts them, cancels them, waits for their end.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "aio/task.h"
#include "base/log.h"

namespace mnet::aio {

class Group {
 public:
  // Told of every task that ended with an error other than kCancelled, by its name. The default
  // writes an error line `<name>: <text>` to the log.
  using OnError = std::function<void(const std::string& name, const Error& error)>;

  Group(asio::any_io_executor executor, Log log);
  Group(asio::any_io_executor executor, OnError on_error);
  // Await join() first: whatever the tasks refer to must outlive them. Those left are cancelled and
  // no longer reported.
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  // Starts the task: on the loop's own thread it runs at once, up to its first wait. An exception
  // that leaves it is reported as kBug and ends nothing else. After cancel() nothing is started:
  // false, and the task is dropped.
  bool spawn(std::string name, Task<void> task);

  // Cancels all tasks, and closes the group.
  void cancel();

  // Ends when no task is left: with success, or with kTimeout at the deadline. Tasks go on if the
  // one who joins is cancelled (kCancelled).
  Task<void> join(Deadline deadline = kNoDeadline);

  std::size_t size() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // outlives the group until its last task has ended
};

}  // namespace mnet::aio
