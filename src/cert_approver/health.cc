#include "cert_approver/health.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cert_approver/approver.h"
#include "http/http.h"
#include "http/listen_patiently.h"

namespace mnet::cert_approver {
namespace {

std::string series(std::string_view name, std::string_view kind, std::string_view help) {
  return cat("# HELP ", name, " ", help, "\n# TYPE ", name, " ", kind, "\n");
}

}  // namespace

std::string metrics_text(const Approver& approver) {
  const auto& counters = approver.counters();
  constexpr std::string_view kDecisions = "multus_cert_approver_decisions_total";
  constexpr std::string_view kFailures = "multus_cert_approver_failures_total";
  constexpr std::string_view kConflicts = "multus_cert_approver_conflicts_total";
  constexpr std::string_view kPending = "multus_cert_approver_pending_requests";
  constexpr std::string_view kSynced = "multus_cert_approver_synced";
  return cat(series(kDecisions, "counter", "Requests that were decided, by decision"), kDecisions,
             "{decision=\"approved\"} ", counters.approved, "\n", kDecisions,
             "{decision=\"denied\"} ", counters.denied, "\n",
             series(kFailures, "counter", "Failed attempts, which are repeated"), kFailures, " ",
             counters.failures, "\n",
             series(kConflicts, "counter", "Requests that changed while they were decided"),
             kConflicts, " ", counters.conflicts, "\n",
             series(kPending, "gauge", "Requests of nodes that are not decided yet"), kPending, " ",
             approver.pending(), "\n",
             series(kSynced, "gauge", "Whether a complete list of requests has been received"),
             kSynced, " ", approver.is_synced() ? 1 : 0, "\n");
}

Health::Health(const aio::asio::any_io_executor& executor, const Approver& approver,
               http::ListenAddress address, Log log)
    : approver_(approver),
      address_(std::move(address)),
      log_(std::move(log)),
      server_(
          executor,
          [this](std::shared_ptr<http::Exchange> exchange) { return handle(std::move(exchange)); },
          http::public_limits(), log_) {}

aio::Task<void> Health::listen() {
  MNET_CO_TRY(auto&& listener,
              co_await http::listen_patiently(address_, [this](const Error& error) {
                log_.error("cannot listen for health and metrics", error);
              }));
  server_.serve(std::move(listener));
  co_return Result<void>();
}

aio::Task<http::Response> Health::handle(std::shared_ptr<http::Exchange> exchange) {
  if (exchange->method() != "GET" && exchange->method() != "HEAD") {
    co_return http::text_response(405, "Method not allowed");
  }
  co_return answer(exchange->path());
}

http::Response Health::answer(const std::string& path) const {
  if (path == "/healthz") return http::text_response(200, "ok");
  if (path == "/readyz") {
    return approver_.is_synced() ? http::text_response(200, "ok")
                                 : http::text_response(500, "still waiting for the first list");
  }
  if (path != "/metrics") return http::text_response(404, "404 page not found");
  http::Response out;
  out.content_type = "text/plain; version=0.0.4; charset=utf-8";
  out.body = metrics_text(approver_);
  return out;
}

}  // namespace mnet::cert_approver
