#include "http/connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "aio/task.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/http.h"
#include "http/response.h"
#include "http/target.h"

namespace mnet::http {
namespace {

namespace asio = aio::asio;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kReadBytes = 64u << 10;
constexpr std::size_t kWriteBytes = 64u << 10;
// Chunk sizes and trailers wait in the buffer until they are complete; no honest peer sends more.
constexpr std::size_t kMaxChunkLine = 64u << 10;
constexpr std::string_view kConnection = "Connection";

// One for all connections: it is never held across a wait.
std::array<char, kReadBytes>& receive_buffer() {
  thread_local std::array<char, kReadBytes> buffer;
  return buffer;
}

std::optional<ucred> credentials_of(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  // On a TCP socket SO_PEERCRED succeeds but names no process.
  if (peer.pid == 0 && peer.uid == static_cast<uid_t>(-1)) return std::nullopt;
  return peer;
}

}  // namespace

Connection::Connection(Socket socket, const Handler& handler, const Limits& limits, const Log& log)
    : socket_(std::move(socket)),
      handler_(handler),
      limits_(limits),
      log_(log),
      watchdog_(socket_.get_executor(),
                [this] {
                  boost::system::error_code ignored;
                  socket_.cancel(ignored);
                }),
      head_deadline_(Clock::now() + limits.header_time) {}

// Awaits the handler in this frame and leaves all else to other coroutines: a thousand requests may
// wait for long, and each keeps the frames below its handler in memory.
asio::awaitable<void> Connection::run() {
  const bool has_request = co_await read_head();
  if (has_request) {
    try {
      auto handled = co_await handler_(shared_from_this());
      conclude(std::move(handled));
    } catch (const std::exception& defect) {
      blame(defect);
    }
  }
  if (response_ && !cut_) co_await answer();
  close();
}

void Connection::close() {
  watchdog_.disarm();
  gone_ = nullptr;
  sent_ = nullptr;
  boost::system::error_code ignored;
  socket_.close(ignored);
}

asio::awaitable<Connection::Input> Connection::read_some() {
  // Tries before it waits: what a shim sends has mostly arrived by now. Connections share a buffer
  // and wait without one, so that a thousand idle connections take little memory.
  while (true) {
    const ssize_t count = ::recv(socket_.native_handle(), receive_buffer().data(), kReadBytes, 0);
    if (count > 0) {
      unread_.append(receive_buffer().data(), static_cast<std::size_t>(count));
      co_return Input::kBytes;
    }
    if (count == 0) {
      input_ended_ = true;
      co_return Input::kEnd;
    }
    if (errno != EAGAIN && errno != EINTR) co_return Input::kFailed;
    auto [failure] = co_await socket_.async_wait(Socket::wait_read, aio::kAsValue);
    if (watchdog_.bitten()) co_return Input::kTimeout;
    if (failure) co_return Input::kFailed;
  }
}

asio::awaitable<bool> Connection::read_head() {
  watchdog_.arm(head_deadline_);
  while (!message_.has_head()) {
    const Input input = co_await read_some();
    if (input != Input::kBytes) co_return false;
    if (!accept_head()) co_return false;
  }
  watchdog_.disarm();
  co_return true;
}

// Takes what has arrived of the head; false if it was refused.
bool Connection::accept_head() {
  auto used = message_.take_head(unread_);
  if (!used) {
    refuse(400, std::move(used).error());
    return false;
  }
  head_bytes_ += *used;
  unread_.erase(0, *used);
  const std::size_t head = head_bytes_ + (message_.has_head() ? 0 : unread_.size());
  if (head > limits_.header_bytes) {
    refuse(431, Error(Errc::kInvalid, "request header too large"));
    return false;
  }
  if (!message_.has_head()) return true;

  if (message_.head().is_1_1 && find_header(message_.head().headers, "Host") == nullptr) {
    refuse(400, Error(Errc::kInvalid, "malformed HTTP: missing Host header"));
    return false;
  }
  auto path = path_of_target(message_.head().target);
  if (!path) {
    refuse(400, std::move(path).error());
    return false;
  }
  path_ = *std::move(path);
  return true;
}

std::optional<std::string> Connection::header(std::string_view name) const {
  const std::string* value = find_header(message_.head().headers, name);
  if (value == nullptr) return std::nullopt;
  return *value;
}

aio::Task<std::string> Connection::read_body() {
  if (std::exchange(body_wanted_, true)) {
    co_return Error(Errc::kBug, "the body of a request is read once");
  }
  if (content_length().value_or(0) > limits_.body_bytes) {
    co_return refuse(413, Error(Errc::kDenied, "request body too large"));
  }
  const bool told = co_await send_continue();
  cut_ = cut_ || !told;
  if (!told) co_return Error(Errc::kCancelled, "the client is gone");
  const auto read = co_await read_rest_of_body(Clock::now() + limits_.body_time);
  watchdog_.disarm();
  if (!read) co_return read.error();
  co_return std::move(message_.body());
}

aio::Task<void> Connection::read_rest_of_body(aio::Deadline end) {
  while (true) {
    MNET_CO_TRY(auto&& is_whole, accept_body());
    if (is_whole) co_return Result<void>();
    watchdog_.arm(std::min(end, Clock::now() + limits_.body_progress));
    const Input input = co_await read_some();
    if (input != Input::kBytes) co_return body_failure(input);
  }
}

// Takes what has arrived of the body, and says whether that was all of it.
Result<bool> Connection::accept_body() {
  auto used = message_.take_body(unread_, limits_.body_bytes);
  if (!used) {
    const int status = used.error().code() == Errc::kDenied ? 413 : 400;
    return refuse(status, std::move(used).error());
  }
  unread_.erase(0, *used);
  // Releases memory that is not needed: a thousand requests may wait for long.
  if (message_.done()) unread_.shrink_to_fit();
  if (message_.done()) return true;
  if (unread_.size() > kMaxChunkLine) {
    return refuse(400, Error(Errc::kInvalid, "malformed HTTP: chunk header too large"));
  }
  return false;
}

Error Connection::body_failure(Input input) {
  if (input == Input::kTimeout) {
    return refuse(408, Error(Errc::kTimeout, "request body timed out"));
  }
  if (input == Input::kEnd) {
    return refuse(400, Error(Errc::kProtocol, "malformed HTTP: unexpected end of the body"));
  }
  cut_ = true;
  return Error(Errc::kCancelled, "the client is gone");
}

// Answers `Expect: 100-continue` when the handler wants the body and none of it has arrived yet.
asio::awaitable<bool> Connection::send_continue() {
  const std::string* expect = find_header(message_.head().headers, "Expect");
  const bool waits = expect != nullptr && equal_ignoring_case(trim(*expect), "100-continue");
  if (!waits || !message_.head().is_1_1 || message_.done() || !unread_.empty()) co_return true;
  const bool written = co_await write_all("HTTP/1.1 100 Continue\r\n\r\n", "");
  co_return written;
}

Error Connection::refuse(int status, Error why) {
  response_ = std::make_unique<Response>(text_response(status, why.text()));
  return why;
}

void Connection::blame(const std::exception& defect) {
  conclude(Error(Errc::kBug, cat("handler threw: ", defect.what())));
}

void Connection::conclude(Result<Response>&& handled) {
  if (handled) {
    response_ = std::make_unique<Response>(*std::move(handled));
    return;
  }
  if (response_) return;
  if (!cut_) log_.error(cat("http: ", excerpt(method()), " ", excerpt(path_)), handled.error());
  response_ = std::make_unique<Response>(text_response(500, "internal error"));
}

asio::awaitable<bool> Connection::write_all(std::string head, std::string body) {
  watchdog_.arm(Clock::now() + limits_.write_time);
  const std::array<asio::const_buffer, 2> buffers = {asio::buffer(head), asio::buffer(body)};
  // Asio sends with MSG_NOSIGNAL.
  // Asked before each part: a watchdog that bites between two parts has nothing to cancel.
  const auto go_on = [this](const boost::system::error_code& failure, std::size_t) {
    return failure || watchdog_.bitten() ? std::size_t{0} : kWriteBytes;
  };
  auto [failure, count] = co_await asio::async_write(socket_, buffers, go_on, aio::kAsValue);
  watchdog_.disarm();
  co_return !failure && count == head.size() + body.size();
}

asio::awaitable<void> Connection::answer() {
  // A small body that the handler did not read has mostly arrived already.
  if (auto used = message_.take_body(unread_, limits_.drain_bytes)) unread_.erase(0, *used);
  const bool is_kept = may_be_kept();
  std::erase_if(response_->headers,
                [](const auto& header) { return equal_ignoring_case(header.first, kConnection); });
  std::string head =
      response_head(*response_, message_.head().is_1_1, is_kept, WallClock::system().now());
  if (method() == "HEAD") response_->body.clear();
  const bool sent = co_await write_all(std::move(head), std::move(response_->body));
  if (!sent) co_return;
  if (sent_) std::exchange(sent_, nullptr)();
  if (is_kept) {
    kept_.emplace(std::move(socket_));
    co_return;
  }
  boost::system::error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  if (!message_.done() || !unread_.empty()) co_await discard_rest();
}

// Where the handler wishes it, with the header, and nothing of this request is left.
bool Connection::may_be_kept() const {
  const std::string* wish = find_header(response_->headers, kConnection);
  return wish != nullptr && *wish == "keep-alive" && message_.head().is_1_1 && message_.done() &&
         unread_.empty() && !watching_ && !is_last_;
}

asio::awaitable<void> Connection::discard_rest() {
  watchdog_.arm(Clock::now() + limits_.drain_time);
  std::size_t discarded = 0;
  while (!input_ended_ && discarded < limits_.drain_bytes) {
    unread_.clear();
    const Input input = co_await read_some();
    if (input != Input::kBytes) break;
    discarded += unread_.size();
  }
  empty_queue();
}

// Keeps the peer from sending more and takes what it sent before: otherwise closing would reset a
// unix socket.
void Connection::empty_queue() {
  boost::system::error_code ignored;
  socket_.shutdown(Socket::shutdown_both, ignored);
  for (std::size_t taken = 0; taken < limits_.drain_bytes;) {
    const ssize_t count = ::recv(socket_.native_handle(), receive_buffer().data(), kReadBytes, 0);
    if (count <= 0) return;
    taken += static_cast<std::size_t>(count);
  }
}

void Connection::hurry(Limits::Time grace) {
  is_last_ = true;
  if (message_.has_head()) return;
  head_deadline_ = std::min(head_deadline_, Clock::now() + grace);
  watchdog_.arm(head_deadline_);
}

void Connection::cut() {
  cut_ = true;
  boost::system::error_code ignored;
  socket_.close(ignored);
}

bool Connection::client_gone() const {
  if (cut_) return true;
  pollfd peer{.fd = const_cast<Socket&>(socket_).native_handle(), .events = 0, .revents = 0};
  return ::poll(&peer, 1, 0) == 1 && (peer.revents & (POLLHUP | POLLERR)) != 0;
}

void Connection::on_gone(std::function<void()> callback) {
  gone_ = std::move(callback);
  if (gone_ && !watching_) watch_peer();
}

// Waits for EPOLLHUP or EPOLLERR; a half-close (EPOLLRDHUP) does not wake it.
void Connection::watch_peer() {
  watching_ = true;
  const auto woken = [weak = weak_from_this()](boost::system::error_code failure) {
    const auto self = weak.lock();
    if (!self) return;
    self->watching_ = false;
    if (!self->gone_) return;
    if (self->client_gone()) {
      // The client will not read the answer: the descriptor can be closed now.
      self->cut();
      std::exchange(self->gone_, nullptr)();
    } else if (failure && self->socket_.is_open()) {
      self->watch_peer();  // woken by the watchdog's cancel
    }
  };
  socket_.async_wait(Socket::wait_error, woken);
}

std::optional<std::uint32_t> Connection::peer_uid() const {
  const auto peer = credentials_of(const_cast<Socket&>(socket_).native_handle());
  if (!peer) return std::nullopt;
  return peer->uid;
}

std::string Connection::peer() const {
  const auto peer = credentials_of(const_cast<Socket&>(socket_).native_handle());
  return peer ? cat("pid ", peer->pid, " uid ", peer->uid) : "tcp";
}

}  // namespace mnet::http
