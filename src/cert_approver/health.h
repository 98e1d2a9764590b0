// What an approver tells of itself over HTTP: /healthz, /readyz and /metrics.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "aio/task.h"
#include "base/log.h"
#include "cert_approver/approver.h"
#include "http/http.h"

namespace mnet::cert_approver {

// The counters in the text format of Prometheus.
std::string metrics_text(const Approver& approver);

class Health {
 public:
  // The approver must outlive it.
  Health(const aio::asio::any_io_executor& executor, const Approver& approver,
         http::ListenAddress address, Log log);

  // Ends once it listens; while the address is taken, it says so and tries again.
  aio::Task<void> listen();

 private:
  aio::Task<http::Response> handle(std::shared_ptr<http::Exchange> exchange);
  http::Response answer(const std::string& path) const;

  const Approver& approver_;
  const http::ListenAddress address_;
  const Log log_;
  http::Server server_;
};

}  // namespace mnet::cert_approver
