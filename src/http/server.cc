#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <exception>
#include <list>
#include <memory>
#include <random>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "http/connection.h"
#include "http/http.h"
#include "http/watchdog.h"

namespace mnet::http {
namespace {

namespace asio = aio::asio;
using Clock = std::chrono::steady_clock;
using boost::system::error_code;

constexpr Limits::Time kFirstBackoff{10};
constexpr Limits::Time kLongestBackoff{1000};

int family_of(int fd) {
  int family = AF_UNIX;
  socklen_t size = sizeof family;
  ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size);
  return family;
}

// The peer went away before it was accepted, or a signal came: nothing to wait for.
bool is_passing(int failure) {
  return failure == ECONNABORTED || failure == EINTR || failure == EPROTO;
}

}  // namespace

struct Server::Impl : std::enable_shared_from_this<Server::Impl> {
  struct Listener {
    asio::posix::stream_descriptor descriptor;
    int family;
  };

  Impl(asio::any_io_executor on, Handler handle, Limits limit, Log to)
      : executor(std::move(on)),
        handler(std::move(handle)),
        limits(limit),
        log(std::move(to)),
        change(executor, Clock::time_point::max()) {}

  bool is_full() const { return connections.size() >= limits.connections; }

  static asio::awaitable<void> accept_loop(std::shared_ptr<Impl> self,
                                           std::shared_ptr<Listener> listener);
  // Accepts until nobody waits (0), the server is full (0), or it fails (errno).
  int accept_waiting(Listener& listener);
  void start(int fd, int family);
  static asio::awaitable<void> run_connection(std::shared_ptr<Impl> self,
                                              std::shared_ptr<Connection> connection);
  void cut_all();

  // Ends when changed() is called next.
  asio::awaitable<void> next_change() { co_await change.async_wait(aio::kAsValue); }
  void changed() { change.expires_at(Clock::time_point::max()); }

  asio::any_io_executor executor;
  Handler handler;
  Limits limits;
  Log log;
  std::list<std::shared_ptr<Listener>> listeners;
  std::unordered_set<std::shared_ptr<Connection>> connections;
  asio::steady_timer change;  // never expires by itself; setting it wakes all who wait
  bool stopping = false;
};

asio::awaitable<void> Server::Impl::accept_loop(std::shared_ptr<Impl> self,
                                                std::shared_ptr<Listener> listener) {
  std::minstd_rand jitter(std::random_device{}());
  Limits::Time backoff = kFirstBackoff;
  while (!self->stopping) {
    if (self->is_full()) {
      co_await self->next_change();
      continue;
    }
    auto [failure] = co_await listener->descriptor.async_wait(
        asio::posix::descriptor_base::wait_read, aio::kAsValue);
    if (self->stopping) co_return;
    const int refused = failure ? failure.value() : self->accept_waiting(*listener);
    if (refused == 0) {
      backoff = kFirstBackoff;
      continue;
    }
    self->log.error("http: accepting connections", Error::from_errno(refused, "accept"));
    asio::steady_timer pause(self->executor, backoff + backoff * (jitter() % 50) / 100);
    co_await pause.async_wait(aio::kAsValue);
    backoff = std::min(backoff * 2, kLongestBackoff);
  }
}

int Server::Impl::accept_waiting(Listener& listener) {
  while (!is_full()) {
    const int fd = ::accept4(listener.descriptor.native_handle(), nullptr, nullptr,
                             SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      start(fd, listener.family);
    } else if (errno == EAGAIN) {
      return 0;
    } else if (!is_passing(errno)) {
      return errno;
    }
  }
  return 0;
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
  auto connection = std::make_shared<Connection>(std::move(socket), handler, limits, log);
  connections.insert(connection);
  asio::co_spawn(executor, run_connection(shared_from_this(), connection),
                 asio::bind_cancellation_slot(connection->cancellation().slot(), asio::detached));
}

asio::awaitable<void> Server::Impl::run_connection(std::shared_ptr<Impl> self,
                                                   std::shared_ptr<Connection> connection) {
  co_await connection->run();
  self->connections.erase(connection);
  self->changed();
}

void Server::Impl::cut_all() {
  // A copy: a connection that ends at once leaves the set.
  const auto left = connections;
  for (const auto& connection : left) connection->cut();
}

Server::Server(asio::any_io_executor executor, Handler handler, Limits limits, Log log)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(handler), limits,
                                   std::move(log))) {}

Server::~Server() {
  impl_->stopping = true;
  error_code ignored;
  for (const auto& listener : impl_->listeners) listener->descriptor.close(ignored);
  impl_->changed();
  impl_->cut_all();
}

void Server::serve(sys::UniqueFd listener) {
  const int family = family_of(listener.get());
  auto taken = std::make_shared<Impl::Listener>(
      asio::posix::stream_descriptor(impl_->executor, listener.release()), family);
  impl_->listeners.push_back(taken);
  asio::co_spawn(impl_->executor, Impl::accept_loop(impl_, taken), asio::detached);
}

void Server::stop_accepting() {
  impl_->stopping = true;
  for (const auto& listener : impl_->listeners) {
    (void)impl_->accept_waiting(*listener);
    error_code ignored;
    listener->descriptor.close(ignored);
  }
  impl_->listeners.clear();
  for (const auto& connection : impl_->connections) connection->hurry(impl_->limits.drain_time);
  impl_->changed();
}

aio::Task<void> Server::drain(aio::Deadline deadline) {
  const auto impl = impl_;
  Watchdog end(impl->executor, [impl] { impl->changed(); });
  end.arm(deadline);
  while (!impl->connections.empty()) {
    if (Clock::now() >= deadline) {
      const std::size_t left = impl->connections.size();
      impl->cut_all();
      co_return Error(Errc::kTimeout, cat(left, " connections were cut"));
    }
    co_await impl->next_change();
  }
  co_return Result<void>();
}

std::size_t Server::open_connections() const { return impl_->connections.size(); }

}  // namespace mnet::http
