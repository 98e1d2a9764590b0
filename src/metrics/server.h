// Shows the metrics on a TCP port of their own (03, 4.1 and 4.3).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "aio/group.h"
#include "aio/task.h"
#include "base/log.h"
#include "http/http.h"
#include "metrics/metrics.h"

namespace mnet::metrics {

struct ServerSettings {
  std::string address;  // empty: all
  std::int64_t port = 0;
  bool has_pprof = false;
  // Awaited before a page is made; nothing: the page is made at once.
  std::function<aio::Task<void>()> refresh = {};
  // Whether a taken port needs no line in the log: the daemon that ends just now has it.
  std::function<bool()> is_expected = [] { return false; };
  // In this time so many pages are made, and then the last one is shown again: anyone may ask, as
  // often as he likes.
  std::chrono::milliseconds window{100};
  std::size_t most_in_window = 5;
  // A port that is taken is tried again after this, with some jitter.
  std::chrono::milliseconds retry = std::chrono::seconds(10);
};

class Server {
 public:
  // The metrics must outlive it.
  Server(const aio::asio::any_io_executor& executor, Metrics& metrics, ServerSettings settings,
         Log log);

  // Returns only once it listens; being unable to is logged once and is never an error.
  aio::Task<void> listen();
  // 0 until it listens.
  std::uint16_t port() const { return port_; }

  void stop() { server_.stop_accepting(); }

 private:
  aio::Task<http::Response> handle(std::shared_ptr<http::Exchange> exchange);
  aio::Task<http::Response> page(std::string method);
  aio::Task<void> refresh();
  bool may_make_page();
  http::Response profile(const std::string& path) const;

  Metrics& metrics_;
  ServerSettings settings_;
  Log log_;
  std::uint16_t port_ = 0;
  std::string page_;
  std::chrono::steady_clock::time_point window_begun_ = {};
  std::size_t made_ = 0;  // since then
  http::Server server_;
};

}  // namespace mnet::metrics
