#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/write.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/http.h"
#include "http/message.h"
#include "http/watchdog.h"

namespace mnet::http {
namespace {

namespace asio = aio::asio;
using asio::generic::stream_protocol;
using boost::system::error_code;

constexpr std::uint64_t kMaxResponse = 64u << 20;
constexpr std::size_t kMaxHead = 64u << 10;

std::string request_head(const ClientRequest& request) {
  std::string head =
      cat(request.method, " ", request.target, " HTTP/1.1\r\nHost: ", request.host, "\r\n");
  for (const auto& [name, value] : request.headers) head += cat(name, ": ", value, "\r\n");
  const bool may_have_body = request.method != "GET" && request.method != "HEAD";
  if (may_have_body || !request.body.empty()) {
    head += cat("Content-Length: ", request.body.size(), "\r\n");
  }
  head += "Connection: close\r\n\r\n";
  return head;
}

// One request on one connection; lives in the coroutine that runs it.
class Call {
 public:
  Call(const asio::any_io_executor& executor, ClientRequest request, aio::Deadline deadline)
      : socket_(executor), request_(std::move(request)), watchdog_(executor, [this] {
          // Not cancel(): between two operations there is nothing to cancel, and the next would
          // wait for ever.
          error_code ignored;
          socket_.close(ignored);
        }) {
    watchdog_.arm(deadline);
  }

  aio::Task<Response> run(stream_protocol::endpoint peer, std::string name) {
    auto [refused] = co_await socket_.async_connect(peer, aio::kAsValue);
    if (refused) co_return failure("connect", name, refused, Errc::kUnavailable);
    const std::string head = request_head(request_);
    const std::array<asio::const_buffer, 2> buffers = {asio::buffer(head),
                                                       asio::buffer(request_.body)};
    auto [broken, count] = co_await asio::async_write(socket_, buffers, aio::kAsValue);
    // A server that refuses early answers before it has read everything: its answer counts more.
    auto response = co_await read_response(name);
    if (!response && broken) co_return failure("write", name, broken, Errc::kIo);
    co_return response;
  }

 private:
  aio::Task<Response> read_response(std::string name) {
    const auto kind =
        request_.method == "HEAD" ? MessageKind::kResponseToHead : MessageKind::kResponse;
    Message message(kind);
    std::array<char, 4096> buffer;
    std::string unread;
    while (!message.done()) {
      auto [ended, count] = co_await socket_.async_read_some(asio::buffer(buffer), aio::kAsValue);
      unread.append(buffer.data(), count);
      MNET_CO_TRY_VOID(take(message, unread));
      if (ended == asio::error::eof) {
        auto whole = message.take_end();
        if (!whole) co_return std::move(whole).error().wrap(cat("reading from ", name));
      } else if (ended) {
        co_return failure("read", name, ended, Errc::kIo);
      }
    }
    co_return to_response(message);
  }

  static Result<void> take(Message& message, std::string& unread) {
    if (!message.has_head()) {
      auto used = message.take_head(unread);
      if (!used) return protocol_error(used.error());
      unread.erase(0, *used);
      if (!message.has_head() && unread.size() > kMaxHead) {
        return Error(Errc::kProtocol, "response header too large");
      }
    }
    if (message.has_head()) {
      auto used = message.take_body(unread, kMaxResponse);
      if (!used) return protocol_error(used.error());
      unread.erase(0, *used);
    }
    return {};
  }

  static Error protocol_error(const Error& why) { return Error(Errc::kProtocol, why.text()); }

  static Response to_response(Message& message) {
    Response response;
    response.status = message.head().status;
    response.headers = message.head().headers;
    if (const std::string* type = find_header(response.headers, "Content-Type")) {
      response.content_type = *type;
    }
    response.body = std::move(message.body());
    return response;
  }

  Error failure(std::string_view doing, const std::string& name, const error_code& why, Errc code) {
    if (watchdog_.bitten()) {
      return Error(Errc::kTimeout, cat(doing, " ", name, ": deadline exceeded"));
    }
    if (why == asio::error::operation_aborted) {
      return Error(Errc::kCancelled, cat(doing, " ", name, ": cancelled"));
    }
    return Error(code, cat(doing, " ", name, ": ", errno_text(why.value())), why.value());
  }

  stream_protocol::socket socket_;
  ClientRequest request_;
  Watchdog watchdog_;
};

}  // namespace

aio::Task<Response> request_unix(std::string socket_path, ClientRequest request,
                                 aio::Deadline deadline) {
  // The longest path that fits a sockaddr_un with its terminator.
  if (socket_path.size() > 107) {
    co_return Error(Errc::kInvalid, cat("socket path too long: ", socket_path));
  }
  const auto executor = co_await asio::this_coro::executor;
  Call call(executor, std::move(request), deadline);
  co_return co_await call.run(asio::local::stream_protocol::endpoint(socket_path), socket_path);
}

aio::Task<Response> request_tcp(std::string address, std::uint16_t port, ClientRequest request,
                                aio::Deadline deadline) {
  error_code unreadable;
  const auto numeric = asio::ip::make_address(address, unreadable);
  if (unreadable) co_return Error(Errc::kInvalid, cat("not a numeric address: ", address));
  const auto executor = co_await asio::this_coro::executor;
  Call call(executor, std::move(request), deadline);
  co_return co_await call.run(asio::ip::tcp::endpoint(numeric, port), cat(address, ":", port));
}

}  // namespace mnet::http
