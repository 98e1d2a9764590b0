#include "shim/connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "shim/response.h"
#include "sys/fd.h"
#include "wire/wire.h"

namespace mnet::shim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

Error out_of_time() { return Error(Errc::kTimeout, "context deadline exceeded"); }

Result<void> wait_for(int fd, short events, Deadline deadline) {
  for (;;) {
    int timeout = -1;
    if (deadline != kNoDeadline) {
      const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) return out_of_time();
      timeout = static_cast<int>(std::min<decltype(left)>(left, INT_MAX));
    }
    pollfd waited{.fd = fd, .events = events, .revents = 0};
    const int ready = ::poll(&waited, 1, timeout);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return Error::from_errno(errno, "poll");
  }
}

// A unix socket's connect() waits for room in the listener's backlog, and only this bounds it:
// without blocking it would fail at once, and poll() knows nothing to wait for.
void bound_connect(int fd, Deadline deadline) {
  const auto left =
      std::max(std::chrono::ceil<microseconds>(deadline - Clock::now()), microseconds(1000));
  const timeval value{.tv_sec = static_cast<time_t>(left.count() / 1'000'000),
                      .tv_usec = static_cast<suseconds_t>(left.count() % 1'000'000)};
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &value, sizeof value);
}

int connect_to(int fd, const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.size() >= sizeof address.sun_path) return EINVAL;
  std::memcpy(address.sun_path, socket.data(), socket.size());
  while (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EINTR) continue;
    return errno == EISCONN ? 0 : errno;
  }
  return 0;
}

std::string request_text(const Post& what) {
  return cat("POST ", what.path, " HTTP/1.1\r\nHost: dummy\r\nContent-Type: application/json\r\n",
             "Content-Length: ", what.body.size(), "\r\n", wire::kRequestIdHeader, ": ",
             what.request_id, "\r\nConnection: ", what.is_last ? "close" : "keep-alive", "\r\n\r\n",
             what.body);
}

Result<void> send_all(int fd, std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      MNET_TRY_VOID(wait_for(fd, POLLOUT, deadline));
    } else if (errno != EINTR) {
      return Error::from_errno(errno, "write unix: write");
    }
  }
  return {};
}

// Until the answer is complete or the other side closed.
Result<void> receive(int fd, ResponseReader& reader, Deadline deadline) {
  char buffer[4 << 10];  // more than most answers have
  while (!reader.is_complete()) {
    MNET_TRY_VOID(wait_for(fd, POLLIN, deadline));
    const ssize_t got = ::recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return Error::from_errno(errno, "read unix: read");
    MNET_TRY_VOID(got == 0 ? reader.finish()
                           : reader.feed(std::string_view(buffer, static_cast<std::size_t>(got))));
  }
  return {};
}

bool is_other_side_gone(const Error& error) {
  return error.os_errno() == EPIPE || error.os_errno() == ECONNRESET;
}

}  // namespace

Error not_sent(std::string_view path, const Error& why) {
  return why.wrap(cat("failed to send CNI request: Post \"http://dummy", path, "\""));
}

Result<Connection> Connection::open(const std::string& socket, Deadline deadline) {
  const auto failed = [&](int why) {
    return Error::from_errno(why, cat("dial unix ", socket, ": connect"));
  };
  sys::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return failed(errno);
  if (deadline != kNoDeadline) bound_connect(fd.get(), deadline);
  const int why = connect_to(fd.get(), socket);
  if (why == EAGAIN) return out_of_time().wrap(cat("dial unix ", socket, ": connect"));
  if (why != 0) return failed(why);
  return Connection(std::move(fd));
}

Result<Response> Connection::post(const Post& what) {
  std::optional<Error> write_error;
  if (auto sent = send_all(fd_.get(), request_text(what), what.sent_by); !sent) {
    if (!is_other_side_gone(sent.error())) return not_sent(what.path, sent.error());
    // It may have answered before it closed: too large a body is refused early.
    write_error = std::move(sent).error();
  }
  ResponseReader reader;
  auto received = receive(fd_.get(), reader, what.answered_by);
  if (received) return std::move(reader).take();
  if (reader.has_head()) return std::move(received).error().wrap("failed to read CNI result");
  return not_sent(what.path, write_error ? *write_error : received.error());
}

bool Connection::is_quiet() const {
  pollfd asked{.fd = fd_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&asked, 1, 0) == 0;
}

}  // namespace mnet::shim
