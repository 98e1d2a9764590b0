// From a tool's main function to its one task, and back to an exit status.
#pragma once

#include <functional>

#include "aio/task.h"
#include "nodetools/output.h"
#include "sys/signals.h"

namespace mnet::nodetools {

// Takes SIGTERM and SIGINT over and runs the task on an event loop of its own. Yields the task's
// exit status; 1 after a complaint if the task failed or the signals could not be taken over.
int run_task(Output& output, const std::function<aio::Task<int>(sys::Signals&)>& make_task);

}  // namespace mnet::nodetools
