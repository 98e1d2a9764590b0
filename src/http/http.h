// HTTP/1.1 server and client over unix sockets and TCP (TLS comes with the Kubernetes client).
// Beast stays inside.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/log.h"
#include "sys/fd.h"

namespace mnet::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Response {
  int status = 200;
  std::string content_type;  // empty: no such header
  std::string body;
  Headers headers;  // further ones
};

// One request on its connection. Lives until the response was written; the handler may keep it.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual const std::string& method() const = 0;
  virtual const std::string& path()
      const = 0;  // decoded, without query; absolute-form targets reduced
  virtual std::optional<std::string> header(std::string_view name) const = 0;
  // Bytes announced by Content-Length; none if chunked or without a body.
  virtual std::optional<std::uint64_t> content_length() const = 0;

  // Reads the body within the limits; once. An error is answered by the server itself (413, 408,
  // 400): return it.
  virtual aio::Task<std::string> read_body() = 0;

  // The client has closed its side completely (a half-close is no leaving). `on_gone` is called at
  // most once, on the event loop, also if the client has already left; replaced by the next call,
  // forgotten with nullptr.
  virtual bool client_gone() const = 0;
  virtual void on_gone(std::function<void()> callback) = 0;

  // uid of the peer of a unix socket.
  virtual std::optional<std::uint32_t> peer_uid() const = 0;
};

using Handler = std::function<aio::Task<Response>(std::shared_ptr<Exchange>)>;

struct Limits {
  std::size_t header_bytes = 64u << 10;
  std::chrono::seconds header_time{10};
  std::uint64_t body_bytes = 16u << 20;
  std::chrono::seconds body_progress{10};  // some byte within
  std::chrono::seconds body_time{60};
  std::chrono::seconds write_time{30};
  std::size_t connections = 1024;
};

// One request per connection, `Connection: close` on every response. Framing errors are answered by
// the server and never reach the handler.
class Server {
 public:
  Server(aio::asio::any_io_executor executor, Handler handler, Limits limits, Log log);
  ~Server();

  // Serves a listening socket until stop(); several may be given. Accept errors are logged and
  // retried with back-off.
  void serve(sys::UniqueFd listener);

  // Accepts no more; connections that wait for their first byte are closed. Running ones go on.
  void stop_accepting();
  // Ends when no connection is left, or at the deadline (those left are then cut).
  aio::Task<void> drain(aio::Deadline deadline);

  std::size_t open_connections() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A listening TCP socket on all addresses, or on one; kConflict if the port is taken.
Result<sys::UniqueFd> listen_tcp(const std::string& address, std::uint16_t port);

struct ClientRequest {
  std::string method = "GET";
  std::string target = "/";
  std::string host = "localhost";
  Headers headers;
  std::string body;
};
// One request on a new connection.
aio::Task<Response> request_unix(std::string socket_path, ClientRequest request,
                                 aio::Deadline deadline);
aio::Task<Response> request_tcp(std::string address, std::uint16_t port, ClientRequest request,
                                aio::Deadline deadline);

}  // namespace mnet::http
