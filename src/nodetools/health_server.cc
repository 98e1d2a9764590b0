#include "nodetools/health_server.h"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "aio/cancel.h"
#include "aio/event.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/http.h"
#include "http/listen_patiently.h"
#include "nodetools/health.h"
#include "nodetools/output.h"

namespace mnet::nodetools {
namespace {

constexpr std::chrono::milliseconds kGrace{500};

}  // namespace

HealthServer::HealthServer(const aio::asio::any_io_executor& executor, http::ListenAddress where,
                           const Health& health, Metrics metrics, Output& output)
    : where_(std::move(where)),
      health_(health),
      metrics_(std::move(metrics)),
      output_(output),
      server_(
          executor,
          [this](std::shared_ptr<http::Exchange> exchange) { return handle(std::move(exchange)); },
          http::public_limits(), Log()) {}

aio::Task<void> HealthServer::run() {
  MNET_CO_TRY(auto&& listener, co_await http::listen_patiently(where_, [this](const Error& error) {
                output_.complain("--listen", error.text());
              }));
  output_.print(cat("Listening on port ", http::local_port(listener).value_or(0), "..."));
  server_.serve(std::move(listener));
  aio::Event never;
  const auto waited = co_await never.wait();
  server_.stop_accepting();
  (void)co_await aio::shielded(server_.drain(std::chrono::steady_clock::now() + kGrace));
  co_return waited;
}

aio::Task<http::Response> HealthServer::handle(std::shared_ptr<http::Exchange> exchange) {
  if (exchange->method() != "GET" && exchange->method() != "HEAD") {
    co_return http::text_response(405, "Method not allowed");
  }
  const std::string path(exchange->path());
  if (path == "/healthz") co_return http::text_response(200, "ok");
  if (path == "/readyz") {
    co_return http::text_response(health_.is_ready() ? 200 : 503, health_.why());
  }
  if (path != "/metrics") co_return http::text_response(404, "404 page not found");
  auto response = http::text_response(200, metrics_());
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  co_return response;
}

}  // namespace mnet::nodetools
