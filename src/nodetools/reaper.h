// What process 1 of a container owes: it reaps processes that have lost their parent.
#pragma once

#include "aio/task.h"

namespace mnet::nodetools {

// Reaps orphans until cancelled; ends at once in a process that is not the first. Our own
// children are left to the tasks that wait for them: a process that stays a zombie for a second has
// none.
aio::Task<void> reap_orphans();

}  // namespace mnet::nodetools
