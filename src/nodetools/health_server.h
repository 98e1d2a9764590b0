// `--listen`: /healthz, /readyz and /metrics of a tool over HTTP (04, 1.15).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "aio/task.h"
#include "base/result.h"
#include "http/http.h"  // IWYU pragma: export  (ListenAddress)
#include "nodetools/health.h"
#include "nodetools/output.h"

namespace mnet::nodetools {

class HealthServer {
 public:
  // Yields the text of /metrics.
  using Metrics = std::function<std::string()>;
  // All must outlive the task.
  HealthServer(const aio::asio::any_io_executor& executor, http::ListenAddress where,
               const Health& health, Metrics metrics, Output& output);

  // Serves until cancelled. A port that is taken is said and tried again.
  aio::Task<void> run();

 private:
  aio::Task<http::Response> handle(std::shared_ptr<http::Exchange> exchange);

  const http::ListenAddress where_;
  const Health& health_;
  const Metrics metrics_;
  Output& output_;
  http::Server server_;
};

}  // namespace mnet::nodetools
