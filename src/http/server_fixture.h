// For tests: a server on its own unix socket, with an event loop on its own thread.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "aio/task.h"
#include "base/text.h"
#include "base/try.h"
#include "http/http.h"
#include "http/origin_client.h"
#include "http/url.h"
#include "sys/test_dir.h"

namespace mnet::http {

inline sys::UniqueFd listen_unix(const std::string& path, int backlog = 4096) {
  sys::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), backlog) != 0) {
    fd.reset();
  }
  return fd;
}

// One request to a port of this machine, on a new connection.
inline aio::Task<Response> request_tcp(std::uint16_t port, ClientRequest request,
                                       aio::Deadline deadline) {
  MNET_CO_TRY(auto&& origin, parse_url(cat("http://127.0.0.1:", port)));
  co_return co_await request_once({.origin = std::move(origin)}, std::move(request), deadline);
}

// An event loop on its own thread.
class LoopThread {
 public:
  LoopThread() : work_(context_.get_executor()), thread_([this] { context_.run(); }) {}
  ~LoopThread() { stop(); }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  aio::asio::any_io_executor executor() { return context_.get_executor(); }
  // Runs `step` on the loop and waits for it.
  template <typename Step>
  auto on_loop(Step step) {
    return aio::asio::post(context_, std::packaged_task<decltype(step())()>(std::move(step))).get();
  }
  template <typename T>
  Result<T> run(aio::Task<T> task) {
    return aio::asio::co_spawn(context_, std::move(task), aio::asio::use_future).get();
  }
  void stop() {
    work_.reset();
    if (thread_.joinable()) thread_.join();
  }

 private:
  aio::asio::io_context context_{1};
  aio::asio::executor_work_guard<aio::asio::io_context::executor_type> work_;
  std::thread thread_;
};

class TestServer {
 public:
  explicit TestServer(Handler handler, Limits limits = {}, Log log = {}) {
    loop_.on_loop([&] {
      server_.emplace(loop_.executor(), std::move(handler), limits, std::move(log));
      server_->serve(listen_unix(dir_ / "s"));
    });
  }
  ~TestServer() {
    loop_.on_loop([&] { server_->stop_accepting(); });
    (void)loop_.run(server_->drain(std::chrono::steady_clock::now()));
    (void)loop_.run(server_->drain(std::chrono::steady_clock::now() + std::chrono::seconds(20)));
    loop_.on_loop([&] { server_.reset(); });
  }

  std::string path() const { return dir_ / "s"; }
  LoopThread& loop() { return loop_; }
  Server& server() { return *server_; }
  std::size_t open() {
    return loop_.on_loop([&] { return server_->open_connections(); });
  }

 private:
  sys::TestDir dir_;
  LoopThread loop_;
  std::optional<Server> server_;
};

}  // namespace mnet::http
