#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "aio/cancel.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/byte_stream.h"
#include "http/lookup.h"
#include "http/url.h"
#include "http/watchdog.h"

namespace mnet::http {
namespace {

namespace asio = aio::asio;
using asio::generic::stream_protocol;
using boost::system::error_code;

class SocketStream final : public ByteStream {
 public:
  SocketStream(const asio::any_io_executor& executor, std::string name)
      : name_(std::move(name)), socket_(executor), watchdog_(executor, [this] {
          // Not cancel(): between two parts of a write there is nothing to cancel.
          error_code ignored;
          socket_.close(ignored);
        }) {}

  // TCP has a liveness.
  aio::Task<void> connect(stream_protocol::endpoint peer, std::optional<TcpLiveness> liveness,
                          aio::Deadline deadline) {
    error_code refused;
    socket_.open(peer.protocol(), refused);
    if (!refused) {
      if (liveness) tune(*liveness);
      watchdog_.arm(deadline);
      std::tie(refused) = co_await socket_.async_connect(peer, aio::kAsValue);
      watchdog_.disarm();
    }
    if (refused || watchdog_.bitten()) co_return failure("connect", refused, Errc::kUnavailable);
    co_return Result<void>();
  }

  aio::Task<std::string> read(aio::Deadline deadline) override {
    // A cancel that met an operation which was about to succeed must not be lost on this one: it
    // may never end.
    const bool is_unwanted = co_await aio::cancelled();
    if (is_unwanted) co_return Error(Errc::kCancelled, cat("read ", name_, ": cancelled"));
    // Waits without a buffer: a watch is silent most of the time.
    watchdog_.arm(deadline);
    auto [ended] = co_await socket_.async_wait(stream_protocol::socket::wait_read, aio::kAsValue);
    watchdog_.disarm();
    if (ended) co_return failure("read", ended, Errc::kIo);

    std::array<char, 16u << 10> buffer;
    const ssize_t count =
        ::recv(socket_.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0)
      co_return failure("read", error_code(errno, boost::system::system_category()), Errc::kIo);
    co_return std::string(buffer.data(), static_cast<std::size_t>(count));
  }

  aio::Task<void> write(std::string bytes, aio::Deadline deadline) override {
    watchdog_.arm(deadline);
    auto [broken, count] = co_await asio::async_write(socket_, asio::buffer(bytes), aio::kAsValue);
    watchdog_.disarm();
    if (broken) co_return failure("write", broken, Errc::kIo);
    co_return Result<void>();
  }

  bool is_quiet() override {
    char byte = 0;
    const ssize_t count = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }

 private:
  // Best effort: without these options the stream is slower to notice a dead peer, but correct.
  void tune(const TcpLiveness& liveness) {
    set(IPPROTO_TCP, TCP_NODELAY, 1);
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(liveness.idle.count()));
    set(IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(liveness.interval.count()));
    set(IPPROTO_TCP, TCP_KEEPCNT, liveness.probes);
    set(IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(liveness.user_timeout.count()));
  }
  void set(int level, int option, int value) {
    ::setsockopt(socket_.native_handle(), level, option, &value, sizeof value);
  }

  Error failure(std::string_view doing, const error_code& why, Errc code) const {
    if (watchdog_.bitten()) {
      return Error(Errc::kTimeout, cat(doing, " ", name_, ": deadline exceeded"));
    }
    if (why == asio::error::operation_aborted) {
      return Error(Errc::kCancelled, cat(doing, " ", name_, ": cancelled"));
    }
    return Error(code, cat(doing, " ", name_, ": ", errno_text(why.value())), why.value());
  }

  std::string name_;
  stream_protocol::socket socket_;
  Watchdog watchdog_;
};

}  // namespace

aio::Task<ByteStreamPtr> connect_tcp(std::string host, std::uint16_t port, aio::Deadline deadline,
                                     TcpLiveness liveness) {
  MNET_CO_TRY(auto&& addresses, co_await look_up(host, deadline));

  const auto executor = co_await asio::this_coro::executor;
  Error last(Errc::kUnavailable, cat("lookup ", host, ": no addresses"));
  for (const asio::ip::address& address : addresses) {
    auto stream = std::make_unique<SocketStream>(executor, host_and_port(host, port));
    auto connected =
        co_await stream->connect(asio::ip::tcp::endpoint(address, port), liveness, deadline);
    if (connected) co_return ByteStreamPtr(std::move(stream));
    last = std::move(connected).error();
    if (last.code() != Errc::kUnavailable) break;
  }
  co_return last;
}

aio::Task<ByteStreamPtr> connect_unix(std::string path, aio::Deadline deadline) {
  // The longest path that fits a sockaddr_un with its terminator.
  if (path.size() > 107) co_return Error(Errc::kInvalid, cat("socket path too long: ", path));
  auto stream = std::make_unique<SocketStream>(co_await asio::this_coro::executor, path);
  MNET_CO_TRY_VOID(co_await stream->connect(asio::local::stream_protocol::endpoint(path),
                                            std::nullopt, deadline));
  co_return ByteStreamPtr(std::move(stream));
}

}  // namespace mnet::http
