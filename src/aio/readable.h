// Waits for a descriptor that other code owns: a pidfd, an inotify.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>

#include "aio/task.h"

namespace mnet::aio {

// The descriptor must outlive this; it is never closed here.
class Readable {
 public:
  Readable(const asio::any_io_executor& executor, int fd);
  ~Readable();
  Readable(const Readable&) = delete;
  Readable& operator=(const Readable&) = delete;

  // Waits until the descriptor can be read. kCancelled when cancelled, even if that was before the
  // call.
  Task<void> wait();

 private:
  asio::posix::stream_descriptor descriptor_;
};

}  // namespace mnet::aio
