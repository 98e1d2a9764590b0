#include "aio/readable.h"

#include <poll.h>

#include "aio/cancel.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"

namespace mnet::aio {
namespace {

bool can_be_read(int fd) {
  pollfd asked{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&asked, 1, 0) == 1;
}

}  // namespace

Readable::Readable(const asio::any_io_executor& executor, int fd) : descriptor_(executor) {
  boost::system::error_code ignored;  // wait() then fails
  descriptor_.assign(fd, ignored);
}

Readable::~Readable() {
  if (descriptor_.is_open()) descriptor_.release();
}

Task<void> Readable::wait() {
  const bool too_late = co_await cancelled();
  if (too_late) co_return cancelled_error();
  // Asio's wait may end too early: an event that was queued for the last user of the same
  // descriptor number wakes the next one.
  while (!can_be_read(descriptor_.native_handle())) {
    auto [failed] =
        co_await descriptor_.async_wait(asio::posix::descriptor_base::wait_read, kAsValue);
    if (failed == asio::error::operation_aborted) co_return cancelled_error();
    if (failed) co_return Error::from_errno(failed.value(), "waiting for a descriptor");
  }
  co_return Result<void>();
}

}  // namespace mnet::aio
