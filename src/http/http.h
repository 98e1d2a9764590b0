// HTTP/1.1 server and one-shot client over unix sockets and TCP, without TLS (http/origin_client.h
// has it). Beast stays inside; what a path means is up to the handler.
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
  Headers headers = {};  // other headers
};

// The value of the first header of that name, in any letter case; nullptr if there is none.
const std::string* find_header(const Headers& headers, std::string_view name);

// One line of text that ends with a newline: the form of error responses (03, 2.7).
Response text_response(int status, std::string_view line);

// One request on its connection. Lives until the response is written; the handler may keep it.
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

  // Reads the body within the limits. To be called once. Return its error: the server answers with
  // the right status by itself (413, 408, 400).
  virtual aio::Task<std::string> read_body() = 0;

  // Whether the client has closed the connection; a half-close does not count. `callback` is called
  // at most once, on the event loop, even if the client has already left; our side of the
  // connection is closed by then. The next call replaces the callback; nullptr removes it, and so
  // does the end of the response.
  virtual bool client_gone() const = 0;
  virtual void on_gone(std::function<void()> callback) = 0;

  // User id of the peer of a unix socket; none for TCP.
  virtual std::optional<std::uint32_t> peer_uid() const = 0;
  // For log lines: `pid 4711 uid 0`, or `tcp`.
  virtual std::string peer() const = 0;

  // `callback` is called once the whole response has been handed to the kernel; not if that fails.
  virtual void on_sent(std::function<void()> callback) = 0;
};

// An error other than that of read_body(), or an exception, is a defect of the handler: it is
// logged and answered with 500.
using Handler = std::function<aio::Task<Response>(std::shared_ptr<Exchange>)>;

// 03, 2.6.
struct Limits {
  using Time = std::chrono::milliseconds;
  std::size_t header_bytes = 64u << 10;
  Time header_time = std::chrono::seconds(10);  // from accept to the end of the headers
  std::uint64_t body_bytes = 16u << 20;
  Time body_progress = std::chrono::seconds(10);  // the longest pause between bytes
  Time body_time = std::chrono::seconds(60);
  Time write_time = std::chrono::seconds(30);
  std::size_t connections = 1024;  // more wait in the backlog
  // How many are accepted in a second, in the long run; 0: any number. Others wait in the backlog.
  std::size_t per_second = 0;
  // For the headers while other clients wait in the backlog: a silent client makes room.
  Time crowded_time = std::chrono::seconds(2);
  // How much of a body that the handler did not read is still read before the connection is closed:
  // closing a unix socket with unread data resets the peer, which then may not see the answer.
  std::size_t drain_bytes = 1u << 20;
  Time drain_time = std::chrono::seconds(1);
};

// For a port on which anyone may ask, beside the program's own work: a few clients at a time, which
// send no body, and not so many in a second that they take the processor from that work.
Limits public_limits();

// Serves one request per connection; every response says `Connection: close`. The server itself
// answers framing errors; they never reach the handler. Everything runs on the executor's one
// thread.
class Server {
 public:
  Server(const aio::asio::any_io_executor& executor, Handler handler, Limits limits, Log log);
  // Stops accepting and closes all connections. Call drain() first, so that no handler runs.
  ~Server();

  // Serves a listening, non-blocking socket until stop_accepting(); may be called for several
  // sockets. Logs accept errors and retries with back-off.
  void serve(sys::UniqueFd listener);
  // The same, and stops serving the sockets before it, as stop_accepting() does.
  void serve_instead(sys::UniqueFd listener);

  // Accepts what already waits in the backlog, then closes the listening sockets. Connections that
  // do not send their request within drain_time are closed; running requests continue.
  void stop_accepting();
  // Ends when no connection is left. At the deadline it closes the remaining connections, cancels
  // their handlers and ends with kTimeout; a second call waits for the handlers to end.
  aio::Task<void> drain(aio::Deadline deadline);

  std::size_t open_connections() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

struct ListenAddress {
  std::string address = {};  // numeric; empty: all
  std::uint16_t port = 0;
};
// `:8080`, `127.0.0.1:8080`, `[::1]:8080`.
Result<ListenAddress> parse_listen_address(std::string_view text);

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
// One request on a new connection. kUnavailable: no process listens there; kTimeout: the deadline
// passed; kIo: no answer; kProtocol: the answer is malformed or incomplete.
aio::Task<Response> request_unix(std::string socket_path, ClientRequest request,
                                 aio::Deadline deadline);

}  // namespace mnet::http
