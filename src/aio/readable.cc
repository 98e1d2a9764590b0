#include "aio/readable.h"

#include "aio/cancel.h"

namespace mnet::aio {

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
  auto [failed] =
      co_await descriptor_.async_wait(asio::posix::descriptor_base::wait_read, kAsValue);
  if (failed == asio::error::operation_aborted) co_return cancelled_error();
  if (failed) co_return Error::from_errno(failed.value(), "waiting for a descriptor");
  co_return Result<void>();
}

}  // namespace mnet::aio
