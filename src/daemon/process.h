// The daemon as a process among others: what its parent hands down, and what a killed daemon left
// running.
#pragma once

#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "base/log.h"

namespace mnet::daemon {

// The pod's UID, by the downward API.
inline constexpr const char* kPodUidVariable = "MULTUS_POD_UID";

// Puts right what a careless supervisor hands down: closed standard descriptors, blocked or ignored
// signals, a small number of descriptors. Then lets all threads share one arena of memory. Before
// any thread is started.
void settle_process();

// Makes Asio allocate what it keeps for each descriptor that it watches, before anything else is.
// Asio never frees it: allocated one by one while a thousand requests come in, each of these blocks
// would later hold a page that the requests have given back.
void reserve_descriptors(aio::asio::io_context& loop);

// Gives the system back what the C library keeps of freed memory. Takes some milliseconds.
void give_back_memory();

// Ends delegates whose daemon was killed, so that no DEL runs beside a late ADD. Processes that
// a delegate left running on purpose (in a session of their own) are left alone, and so are those
// of another daemon that still runs. Failures are logged.
aio::Task<void> end_orphans(aio::BlockingPool& pool, Log log);

}  // namespace mnet::daemon
