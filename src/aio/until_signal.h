// A program's one task, ended by SIGINT or SIGTERM.
#pragma once

#include <boost/asio/io_context.hpp>

#include "aio/task.h"

namespace mnet::aio {

// Runs the task to its end. The first signal cancels it, and kCancelled is success then: the
// process was told to end. A second signal, also behind this call, ends the process at once with
// status 1.
Result<void> run_until_signal(asio::io_context& loop, Task<void> task);

}  // namespace mnet::aio
