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
  // Called for every task that ended with an error other than kCancelled. The default writes an
  // error line `<name>: <text>` to the log.
  using OnError = std::function<void(const std::string& name, const Error& error)>;

  Group(asio::any_io_executor executor, Log log);
  Group(asio::any_io_executor executor, OnError on_error);
  // Await join() first: what the tasks refer to must outlive them. Tasks that still run are
  // cancelled, and their errors are not reported.
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  // Starts the task: on the loop's own thread it runs at once, up to its first wait. An exception
  // that escapes from it is reported as kBug and ends nothing else. After cancel() no task is
  // started: returns false and drops the task.
  bool spawn(std::string name, Task<void> task);

  // Cancels all tasks and closes the group.
  void cancel();

  // Ends when no task is left; kTimeout at the deadline, kCancelled if the joining task is
  // cancelled. The tasks of the group continue in both cases.
  Task<void> join(Deadline deadline = kNoDeadline);

  std::size_t size() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // outlives the group until its last task has ended
};

}  // namespace mnet::aio
