// For tests: an API server that says exactly what it is told, and remembers what it was asked.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "http/scripted_server.h"
#include "kube/api.h"

namespace mnet::kube {

class FakeApi {
 public:
  // Answers one request; called on a thread of the connection's own.
  using Answer = std::function<void(http::Peer&, const http::RawRequest&)>;

  explicit FakeApi(Answer answer)
      : answer_(std::move(answer)), server_([this](http::Peer& peer) { serve(peer); }) {}

  std::string url() const { return cat("http://127.0.0.1:", server_.port()); }
  std::size_t connections() const { return server_.accepted(); }

  // `GET /path?query` of all requests so far.
  std::vector<std::string> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

  std::unique_ptr<Api> client(ApiSettings settings = {}) const {
    Config config;
    config.server = url();
    return *Api::make(std::move(config), std::move(settings), Log());
  }

 private:
  void serve(http::Peer& peer) {
    while (const auto request = peer.read_request()) {
      {
        const std::lock_guard lock(mutex_);
        asked_.push_back(cat(request->method(), " ", request->target()));
      }
      answer_(peer, *request);
    }
  }

  mutable std::mutex mutex_;
  std::vector<std::string> asked_;
  Answer answer_;
  http::ScriptedServer server_;
};

// Runs the loop until the condition holds; false after a time that no test should take.
inline bool drive(aio::asio::io_context& loop, const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  loop.restart();
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    loop.run_one_for(std::chrono::milliseconds(20));
    if (loop.stopped()) loop.restart();
  }
  return true;
}

}  // namespace mnet::kube
