// Runs the one task of a program until SIGINT or SIGTERM ends it.
#pragma once

#include <boost/asio/io_context.hpp>

#include "aio/task.h"

namespace mnet::aio {

// Runs the task to its end. The first signal cancels it; kCancelled then counts as success, since
// the process was told to end. A second signal ends the process at once with status 1, even after
// this call.
Result<void> run_until_signal(asio::io_context& loop, Task<void> task);

}  // namespace mnet::aio
