// Requests to one server over connections that are kept: plain or TLS, directly or through a proxy.
// Answers can be read piece by piece while they come. Knows nothing of what is asked.
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
  Url origin;                        // http or https; requests' targets get its path in front
  std::string tls_server_name = {};  // whose certificate is expected; empty: the origin's host
  std::optional<Url> proxy = {};
  std::chrono::milliseconds connect_time{10'000};  // the handshake of TLS included
  std::size_t idle_connections = 4;                // kept at most
  std::chrono::milliseconds idle_time{60'000};     // older ones are not used again
};

// An answer whose head has come. Gives its connection back when its body was read to the end, and
// cuts it when it goes before that. May outlive its client.
class ResponseStream {
 public:
  virtual ~ResponseStream() = default;
  virtual int status() const = 0;
  virtual const Headers& headers() const = 0;
  // Some bytes of the body, as soon as there are any; empty at its end. kProtocol, kIo: cut off
  // in the middle; kTimeout.
  virtual aio::Task<std::string> read(aio::Deadline deadline) = 0;
};

// All of a body; kProtocol if it is larger than `max_bytes`.
aio::Task<std::string> read_whole(ResponseStream* response, std::size_t max_bytes,
                                  aio::Deadline deadline);

class OriginClient {
 public:
  // `tls` may be null for http.
  OriginClient(OriginSettings settings, TlsContextPtr tls);
  ~OriginClient();
  OriginClient(const OriginClient&) = delete;
  OriginClient& operator=(const OriginClient&) = delete;

  // For connections to come; idle ones are closed, busy ones when they have done their work.
  void set_tls(TlsContextPtr tls);
  void close_idle();

  // Sends the request and reads the head of the answer. A connection that turns out to be dead
  // before a byte of the answer came is replaced once, but for POST. `request.host` is ignored.
  // Errors as of connect_tcp and start_tls; kProtocol: no HTTP.
  aio::Task<std::unique_ptr<ResponseStream>> open(ClientRequest request, aio::Deadline deadline);

  std::size_t idle_connections() const;
  std::uint64_t connections_made() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // outlives the client as long as an answer is being read
};

}  // namespace mnet::http
