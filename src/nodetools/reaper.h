// What process 1 of a container owes: ends that nobody else waits for.
#pragma once

#include "aio/task.h"

namespace mnet::nodetools {

// Reaps orphans until cancelled; ends at once in a process that is not the first. Children of our
// own are left to those who wait for them: what stays dead for a second is nobody's.
aio::Task<void> reap_orphans();

}  // namespace mnet::nodetools
