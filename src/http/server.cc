#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <unordered_set>
#include <utility>

#include "aio/event.h"
#include "aio/group.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "base/backoff.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/connection.h"
#include "http/http.h"
#include "sys/fd.h"

namespace mnet::http {
namespace {

namespace asio = aio::asio;
using Clock = std::chrono::steady_clock;
using boost::system::error_code;

constexpr Limits::Time kFirstPause{10};
constexpr Limits::Time kLongestPause{1500};

int family_of(int fd) {
  int family = AF_UNIX;
  socklen_t size = sizeof family;
  ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size);
  return family;
}

// The peer left before it was accepted, or a signal came: accept again without a pause.
bool is_passing(int failure) {
  return failure == ECONNABORTED || failure == EINTR || failure == EPROTO;
}

// How many connections may be accepted now: so many in a second, and as many as are served at once
// after a while without any.
class Pace {
 public:
  explicit Pace(const Limits& limits)
      : per_second_(static_cast<double>(limits.per_second)),
        most_(static_cast<double>(limits.connections)),
        left_(most_) {}

  // How long until one may be; 0: now.
  Limits::Time wait() {
    if (per_second_ == 0) return {};
    const auto now = Clock::now();
    const std::chrono::duration<double> passed = now - at_;
    left_ = std::min(most_, left_ + passed.count() * per_second_);
    at_ = now;
    if (left_ >= 1) return {};
    const std::chrono::duration<double> missing((1 - left_) / per_second_);
    return std::chrono::ceil<Limits::Time>(missing);
  }
  void take() { left_ -= 1; }

 private:
  const double per_second_, most_;
  double left_;
  Clock::time_point at_ = Clock::now();
};

}  // namespace

Limits public_limits() {
  Limits limits;
  limits.header_bytes = 16u << 10;
  limits.body_bytes = 0;
  limits.write_time = std::chrono::seconds(10);
  limits.connections = 16;
  limits.per_second = 250;
  limits.crowded_time = std::chrono::milliseconds(200);
  limits.drain_time = std::chrono::milliseconds(100);
  return limits;
}

struct Server::Impl : std::enable_shared_from_this<Server::Impl> {
  struct Listener {
    asio::posix::stream_descriptor descriptor;
    int family;
  };

  Impl(const asio::any_io_executor& on, Handler handle, Limits limit, Log to)
      : executor(on),
        handler(std::move(handle)),
        limits(limit),
        pace(limit),
        log(std::move(to)),
        accepting(executor, log),
        serving(executor, log) {}

  bool is_full() const { return connections.size() >= limits.connections; }

  static aio::Task<void> accept_loop(std::shared_ptr<Impl> self,
                                     std::shared_ptr<Listener> listener);
  // Accepts until no connection waits (0), the server is full or must pause (0), or accept fails
  // (its errno).
  int accept_waiting(Listener& listener);
  // Accepts all that wait, however many: there will be no later time.
  void accept_last(Listener& listener);
  void close_listeners();
  void start(int fd, int family);
  void serve_request(Socket socket);
  static aio::Task<void> run_connection(std::shared_ptr<Impl> self,
                                        std::shared_ptr<Connection> connection);
  void cut_all();

  asio::any_io_executor executor;
  Handler handler;
  Limits limits;
  Pace pace;
  Log log;
  std::list<std::shared_ptr<Listener>> listeners;
  std::unordered_set<std::shared_ptr<Connection>> connections;
  aio::Notifier room;  // a connection has ended
  bool stopping = false;
  aio::Group accepting, serving;
};

aio::Task<void> Server::Impl::accept_loop(std::shared_ptr<Impl> self,
                                          std::shared_ptr<Listener> listener) {
  Backoff backoff(kFirstPause, kLongestPause, make_random(), {.least = 1, .most = 1.5});
  while (!self->stopping) {
    if (self->is_full()) {
      for (const auto& one : self->connections) one->hurry(self->limits.crowded_time);
      MNET_CO_TRY_VOID(co_await self->room.wait());
      continue;
    }
    if (const auto pause = self->pace.wait(); pause.count() > 0) {
      MNET_CO_TRY_VOID(co_await aio::sleep_for(pause));
      continue;
    }
    auto [failure] = co_await listener->descriptor.async_wait(
        asio::posix::descriptor_base::wait_read, aio::kAsValue);
    if (self->stopping || !listener->descriptor.is_open()) break;
    const int refused = failure ? failure.value() : self->accept_waiting(*listener);
    if (refused == 0) {
      backoff.reset();
      continue;
    }
    self->log.error("http: accepting connections", Error::from_errno(refused, "accept"));
    MNET_CO_TRY_VOID(co_await aio::sleep_for(backoff.next()));
  }
  co_return Result<void>();
}

int Server::Impl::accept_waiting(Listener& listener) {
  while (!is_full() && pace.wait().count() == 0) {
    const int fd = ::accept4(listener.descriptor.native_handle(), nullptr, nullptr,
                             SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      pace.take();
      start(fd, listener.family);
    } else if (errno == EAGAIN) {
      return 0;
    } else if (!is_passing(errno)) {
      return errno;
    }
  }
  return 0;
}

// A unix socket first refuses further clients: one that connected between the last accept and the
// close would be reset. (On TCP the same call would drop those that wait.)
void Server::Impl::accept_last(Listener& listener) {
  const int fd = listener.descriptor.native_handle();
  if (listener.family == AF_UNIX) ::shutdown(fd, SHUT_RD);
  for (;;) {
    const int accepted = ::accept4(fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted < 0 && !is_passing(errno)) return;
    if (accepted >= 0) start(accepted, listener.family);
  }
}

void Server::Impl::close_listeners() {
  for (const auto& listener : listeners) {
    accept_last(*listener);
    error_code ignored;
    listener->descriptor.close(ignored);
  }
  listeners.clear();
}

void Server::Impl::start(int fd, int family) {
  sys::UniqueFd owned(fd);
  Socket socket(executor);
  error_code failure;
  socket.assign(asio::generic::stream_protocol(family, 0), owned.get(), failure);
  if (failure) {
    log.error(cat("http: taking a connection: ", failure.message()));
    return;
  }
  (void)owned.release();
  serve_request(std::move(socket));
}

void Server::Impl::serve_request(Socket socket) {
  auto connection = std::make_shared<Connection>(std::move(socket), handler, limits, log);
  connections.insert(connection);
  if (stopping) connection->hurry(limits.drain_time);
  serving.spawn("http connection", run_connection(shared_from_this(), connection));
}

aio::Task<void> Server::Impl::run_connection(std::shared_ptr<Impl> self,
                                             std::shared_ptr<Connection> connection) {
  co_await connection->run();
  self->connections.erase(connection);
  if (auto socket = connection->take_kept()) self->serve_request(*std::move(socket));
  self->room.notify_all();
  co_return Result<void>();
}

void Server::Impl::cut_all() {
  // A copy: a connection that ends at once leaves the set.
  const auto left = connections;
  for (const auto& connection : left) connection->cut();
  serving.cancel();
}

Server::Server(const asio::any_io_executor& executor, Handler handler, Limits limits, Log log)
    : impl_(std::make_shared<Impl>(executor, std::move(handler), limits, std::move(log))) {}

Server::~Server() {
  impl_->stopping = true;
  error_code ignored;
  for (const auto& listener : impl_->listeners) listener->descriptor.close(ignored);
  impl_->accepting.cancel();
  impl_->cut_all();
}

void Server::serve(sys::UniqueFd listener) {
  const int family = family_of(listener.get());
  auto taken = std::make_shared<Impl::Listener>(
      asio::posix::stream_descriptor(impl_->executor, listener.release()), family);
  impl_->listeners.push_back(taken);
  impl_->accepting.spawn("http accept loop", Impl::accept_loop(impl_, taken));
}

void Server::serve_instead(sys::UniqueFd listener) {
  impl_->close_listeners();
  serve(std::move(listener));
}

void Server::stop_accepting() {
  impl_->stopping = true;
  impl_->close_listeners();
  for (const auto& connection : impl_->connections) connection->hurry(impl_->limits.drain_time);
  impl_->accepting.cancel();
}

aio::Task<void> Server::drain(aio::Deadline deadline) {
  const auto impl = impl_;
  auto drained = co_await impl->serving.join(deadline);
  if (drained || drained.error().code() != Errc::kTimeout) co_return std::move(drained);
  const std::size_t left = impl->connections.size();
  impl->cut_all();
  co_return Error(Errc::kTimeout, cat(left, " connections were closed before they ended"));
}

std::size_t Server::open_connections() const { return impl_->connections.size(); }

}  // namespace mnet::http
