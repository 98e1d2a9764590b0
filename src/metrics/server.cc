#include "metrics/server.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/http.h"
#include "http/listen_patiently.h"
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
  std::string logged;
  const auto complain = [this, &logged](const Error& error) {
    if (error.text() == logged || settings_.is_expected()) return;
    log_.error("cannot listen for metrics", error);
    logged = error.text();
  };
  MNET_CO_TRY(auto&& listener, co_await http::listen_patiently(
                                   {settings_.address, static_cast<std::uint16_t>(settings_.port)},
                                   complain, settings_.retry));
  port_ = http::local_port(listener).value_or(0);
  server_.serve(std::move(listener));
  co_return Result<void>();
}

aio::Task<http::Response> Server::handle(std::shared_ptr<http::Exchange> exchange) {
  if (exchange->path() != "/metrics") co_return profile(exchange->path());
  co_return co_await page(exchange->method());
}

aio::Task<http::Response> Server::page(std::string method) {
  if (method != "GET" && method != "HEAD") co_return http::text_response(405, "Method not allowed");
  if (may_make_page()) {
    const auto refreshed = co_await refresh();
    if (!refreshed) log_.verbose(cat("metrics could not be refreshed: ", refreshed.error().text()));
    page_ = metrics_.text();
  }
  co_return plain(page_, "text/plain; version=0.0.4; charset=utf-8");
}

aio::Task<void> Server::refresh() {
  if (!settings_.refresh) co_return Result<void>();
  co_return co_await settings_.refresh();
}

bool Server::may_make_page() {
  const auto now = std::chrono::steady_clock::now();
  if (now - window_begun_ >= settings_.window) {
    window_begun_ = now;
    made_ = 0;
  }
  return ++made_ <= settings_.most_in_window || page_.empty();
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
