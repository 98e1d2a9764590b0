// The daemon as a process among others: what it was started with, and what one that was killed left
// running.
#pragma once

#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "base/log.h"

namespace mnet::daemon {

// Puts right what a careless supervisor hands down: closed standard descriptors, blocked or ignored
// signals, a small number of descriptors. Then lets all threads share one arena of memory. Before
// any thread is started.
void settle_process();

// Ends delegates whose daemon was killed, so that no DEL runs beside a late ADD. Processes that
// a delegate left running on purpose (in a session of their own) are left alone, and so are those
// of another daemon that still runs. Failures are logged.
aio::Task<void> end_orphans(aio::BlockingPool& pool, Log log);

}  // namespace mnet::daemon
