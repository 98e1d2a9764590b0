// Sends requests to one server over connections that are reused: plain or TLS, directly or through
// a proxy. Answers can be read piece by piece as they arrive. Knows nothing of their meaning.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "aio/task.h"
#include "http/http.h"
#include "http/tls.h"
#include "http/url.h"

namespace mnet::http {

struct OriginSettings {
  Url origin;                        // http or https; its path is prefixed to the targets
  std::string unix_socket = {};      // connected to instead of the origin; empty: none
  std::string tls_server_name = {};  // name in the server's certificate; empty: the origin's host
  std::optional<Url> proxy = {};
  std::chrono::milliseconds connect_time{10'000};  // TLS handshake included
  std::size_t idle_connections = 4;                // at most
  std::chrono::milliseconds idle_time{60'000};     // connections idle for longer are not reused
};

// A response whose head has arrived. Gives its connection back when the body was read to its end;
// closes it if destroyed before that. May outlive its client.
class ResponseStream {
 public:
  virtual ~ResponseStream() = default;
  virtual int status() const = 0;
  virtual const Headers& headers() const = 0;
  // Some bytes of the body, as soon as there are any; empty at its end. kProtocol, kIo: truncated;
  // kTimeout. After 101 (another protocol) these are the bytes of the connection.
  virtual aio::Task<std::string> read(aio::Deadline deadline) = 0;
};

// The whole body; kProtocol if it is larger than `max_bytes`.
aio::Task<std::string> read_whole(ResponseStream* response, std::size_t max_bytes,
                                  aio::Deadline deadline);

// One request on a new connection, without TLS.
aio::Task<Response> request_once(OriginSettings where, ClientRequest request,
                                 aio::Deadline deadline);

class OriginClient {
 public:
  // `tls` may be null for http.
  OriginClient(OriginSettings settings, TlsContextPtr tls);
  ~OriginClient();
  OriginClient(const OriginClient&) = delete;
  OriginClient& operator=(const OriginClient&) = delete;

  // For new connections. Closes idle connections now, and busy ones when their response ends.
  void set_tls(TlsContextPtr tls);

  // Sends the request and reads the head of the response. If a reused connection turns out to be
  // dead before a byte of the response arrives, the request is sent once more on another one,
  // unless it is a POST. `request.host` is for unix sockets only. Errors as for connect_tcp and
  // start_tls; kProtocol: the response is not HTTP.
  aio::Task<std::unique_ptr<ResponseStream>> open(ClientRequest request, aio::Deadline deadline);

  std::size_t idle_connections() const;
  // Closes idle connections but the `most` that were used last.
  void close_idle(std::size_t most);

 private:
  struct State;
  std::shared_ptr<State> state_;  // outlives the client while a response is read
};

}  // namespace mnet::http
