#include "metrics/server.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "aio/sleep.h"
#include "aio/task.h"
#include "base/backoff.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/http.h"
#include "metrics/metrics.h"
#include "sys/file.h"

namespace mnet::metrics {
namespace {

// NUL-separated, as Go's profiler answers it.
std::string command_line() {
  auto text = sys::read_file("/proc/self/cmdline", 1u << 20);
  if (!text) return {};
  if (text->ends_with('\0')) text->pop_back();
  return *std::move(text);
}

http::Response plain(std::string body, std::string type) {
  http::Response response;
  response.content_type = std::move(type);
  response.body = std::move(body);
  return response;
}

}  // namespace

Server::Server(const aio::asio::any_io_executor& executor, Metrics& metrics,
               ServerSettings settings, Log log)
    : metrics_(metrics),
      settings_(std::move(settings)),
      log_(std::move(log)),
      server_(
          executor,
          [this](std::shared_ptr<http::Exchange> exchange) { return handle(std::move(exchange)); },
          http::public_limits(), log_) {}

aio::Task<void> Server::listen() {
  if (settings_.port < 0 || settings_.port > 65535) {
    log_.error(cat("metrics: not a port: ", settings_.port));
    co_return Result<void>();
  }
  Backoff backoff(settings_.retry, settings_.retry * 6 / 5, make_random(),
                  {.least = 1, .most = 1.2});
  std::string logged;
  while (true) {
    auto listener = http::listen_tcp(settings_.address, static_cast<std::uint16_t>(settings_.port));
    if (listener) {
      port_ = http::local_port(*listener).value_or(0);
      server_.serve(*std::move(listener));
      co_return Result<void>();
    }
    if (const std::string& why = listener.error().text();
        why != logged && !settings_.is_expected()) {
      log_.error("metrics", listener.error());
      logged = why;
    }
    MNET_CO_TRY_VOID(co_await aio::sleep_for(backoff.next()));
  }
}

aio::Task<http::Response> Server::handle(std::shared_ptr<http::Exchange> exchange) {
  if (exchange->path() != "/metrics") co_return profile(exchange->path());
  co_return co_await page(exchange->method());
}

aio::Task<http::Response> Server::page(std::string method) {
  if (method != "GET" && method != "HEAD") co_return http::text_response(405, "Method not allowed");
  if (settings_.refresh) {
    const auto fresh = co_await settings_.refresh();
    if (!fresh) log_.verbose(cat("metrics could not be refreshed: ", fresh.error().text()));
  }
  co_return plain(metrics_.text(), "text/plain; version=0.0.4; charset=utf-8");
}

http::Response Server::profile(const std::string& path) const {
  if (settings_.has_pprof && path == "/debug/pprof/cmdline") {
    return plain(command_line(), "text/plain; charset=utf-8");
  }
  if (settings_.has_pprof && path.starts_with("/debug/pprof/")) {
    return http::text_response(501, "profiles in Go's formats are not available");
  }
  return http::text_response(404, "404 page not found");
}

}  // namespace mnet::metrics
