// All objects of a running daemon, built from its configuration and destroyed in reverse order.
#pragma once

#include <memory>

#include "aio/task.h"
#include "base/log.h"
#include "daemon/config.h"
#include "daemon/objects.h"
#include "daemon/pending_del_replay.h"
#include "daemon/readiness.h"
#include "http/http.h"
#include "metrics/metrics.h"

namespace mnet::daemon {

class Assembly {
 public:
  Assembly(const aio::asio::any_io_executor& executor, Config config, const Log& log);
  // Only when no request and no task of it runs any more.
  ~Assembly();
  Assembly(const Assembly&) = delete;
  Assembly& operator=(const Assembly&) = delete;

  const Config& config() const;
  aio::BlockingPool& pool();
  // nullptr if there is no `objectsDir`. Whoever runs the daemon follows it and flushes it.
  Objects& objects();
  const Objects& objects() const;
  Readiness& readiness();
  metrics::Metrics& metrics();
  // Counts what is not counted as it happens; to be awaited before a page is made.
  aio::Task<void> refresh_metrics();
  // Tells the owners of pods that were started without us, once, when all objects are read (pain
  // 3). To be started in a group.
  aio::Task<void> find_missed_pods();
  PendingDelReplay& pending();
  http::Server& server();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace mnet::daemon
