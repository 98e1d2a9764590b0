// HTTP/1.1 server and client over unix sockets and TCP (TLS comes with the Kubernetes client).
// Beast stays inside; what a path means is the handler's business.
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
  std::string content_type = {};  // empty: no such header
  std::string body = {};
  Headers headers = {};  // further ones
};

// The first header of that name in any letter case; nullptr if there is none.
const std::string* find_header(const Headers& headers, std::string_view name);

// One line of text with a newline behind it, as errors are answered (03, 2.7).
Response text_response(int status, std::string_view line);

// One request on its connection. Lives until the response was written; the handler may keep it.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual const std::string& method() const = 0;
  // Decoded, without query; absolute-form targets are reduced to their path.
  virtual const std::string& path() const = 0;
  virtual std::optional<std::string> header(std::string_view name) const = 0;
  // Bytes announced by Content-Length; none if chunked or without a body.
  virtual std::optional<std::uint64_t> content_length() const = 0;
  virtual bool is_chunked() const = 0;

  // Reads the body within the limits; once. An error is answered by the server itself (413, 408,
  // 400): return it.
  virtual aio::Task<std::string> read_body() = 0;

  // The client has closed its side completely (a half-close is no leaving). `callback` is called at
  // most once, on the event loop, also if the client has already left; replaced by the next call,
  // forgotten with nullptr and when the response is written. The connection is closed by then.
  virtual bool client_gone() const = 0;
  virtual void on_gone(std::function<void()> callback) = 0;

  // uid of the peer of a unix socket.
  virtual std::optional<std::uint32_t> peer_uid() const = 0;
  // For log lines: `pid 4711 uid 0`, or address and port.
  virtual std::string peer() const = 0;

  // Called once the answer was handed to the kernel completely; not if that failed.
  virtual void on_sent(std::function<void()> callback) = 0;
};

// An error that is not read_body()'s, or an exception, is a defect of the handler: 500, logged.
using Handler = std::function<aio::Task<Response>(std::shared_ptr<Exchange>)>;

// 03, 2.6.
struct Limits {
  using Time = std::chrono::milliseconds;
  std::size_t header_bytes = 64u << 10;
  Time header_time = std::chrono::seconds(10);  // from accept to the end of the headers
  std::uint64_t body_bytes = 16u << 20;
  Time body_progress = std::chrono::seconds(10);  // some byte within
  Time body_time = std::chrono::seconds(60);
  Time write_time = std::chrono::seconds(30);
  std::size_t connections = 1024;  // more wait in the backlog
  // What is still read of a body that nobody wants before the connection is closed: closing a unix
  // socket with unread data resets the peer, which then may not see the answer.
  std::size_t drain_bytes = 1u << 20;
  Time drain_time = std::chrono::seconds(1);
};

// One request per connection, `Connection: close` on every response. Framing errors are answered by
// the server and never reach the handler. All of it on the executor's one thread.
class Server {
 public:
  Server(const aio::asio::any_io_executor& executor, Handler handler, Limits limits, Log log);
  // Nothing is accepted any more and connections are cut; drain() first, so that no handler runs.
  ~Server();

  // Serves a listening, non-blocking socket until stop_accepting(); several may be given. Accept
  // errors are logged and retried with back-off.
  void serve(sys::UniqueFd listener);

  // Takes what already waits in the backlog, then closes the listening sockets. A connection that
  // has not sent its request within drain_time is closed; running ones go on.
  void stop_accepting();
  // Ends when no connection is left. At the deadline those left are cut and their handlers
  // cancelled (kTimeout); a second call waits for the handlers to end.
  aio::Task<void> drain(aio::Deadline deadline);

  std::size_t open_connections() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// A listening TCP socket on all addresses (IPv4 and IPv6) if `address` is empty, else on that
// numeric one; kConflict if the port is taken.
Result<sys::UniqueFd> listen_tcp(const std::string& address, std::uint16_t port);
// The port it is bound to.
Result<std::uint16_t> local_port(const sys::UniqueFd& listener);

struct ClientRequest {
  std::string method = "GET";
  std::string target = "/";
  std::string host = "localhost";
  Headers headers = {};
  std::string body = {};
};
// One request on a new connection. kUnavailable: nobody listens there; kTimeout: the deadline
// passed; kProtocol: the answer is broken or incomplete. `address` is numeric.
aio::Task<Response> request_unix(std::string socket_path, ClientRequest request,
                                 aio::Deadline deadline);
aio::Task<Response> request_tcp(std::string address, std::uint16_t port, ClientRequest request,
                                aio::Deadline deadline);

}  // namespace mnet::http
