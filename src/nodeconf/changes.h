// Waits for something to happen in directories. Says only that something may have happened: the
// caller looks.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aio/readable.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "sys/directory_watch.h"

namespace mnet::nodeconf {

class Changes {
 public:
  // `settle`: a change is reported after so much quiet, and at the latest ten times that after the
  // first event. `report` is told once why nothing can be watched.
  using Report = std::function<void(const Error& why)>;
  Changes(std::vector<std::string> directories, std::chrono::milliseconds settle, Report report);

  // Until a change, or until the deadline, both a success. From the first call on nothing is
  // missed. Without inotify (its limits count for all programs of a user) it is always the
  // deadline. Only kCancelled is an error.
  aio::Task<void> wait(aio::Deadline deadline);
  bool is_watching() const { return watch_ != nullptr; }

 private:
  struct Watch {
    Watch(const aio::asio::any_io_executor& executor, sys::DirectoryWatch the_watch)
        : watch(std::move(the_watch)), readable(executor, watch.fd()) {}
    sys::DirectoryWatch watch;
    aio::Readable readable;
  };

  void open(const aio::asio::any_io_executor& executor);
  // Whether there was something before the deadline.
  aio::Task<bool> next(aio::Deadline deadline);

  std::vector<std::string> directories_;
  std::chrono::milliseconds settle_;
  Report report_;
  std::unique_ptr<Watch> watch_;
  std::string reported_;
};

}  // namespace mnet::nodeconf
