// A connection as bytes in both directions: TCP, a unix socket, or TLS on top of another stream.
// Knows nothing of HTTP.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "aio/task.h"

namespace mnet::http {

// One read and one write at a time. After an error the stream is unusable. Cancelling ends the
// operation with kCancelled.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // Some bytes, as soon as there are any; empty if the peer has closed its side. kTimeout at the
  // deadline; kIo: broken.
  virtual aio::Task<std::string> read(aio::Deadline deadline) = 0;
  virtual aio::Task<void> write(std::string bytes, aio::Deadline deadline) = 0;
  // Whether it is open and holds no unread bytes: only then may an idle connection be used for
  // another request.
  virtual bool is_quiet() = 0;
};
using ByteStreamPtr = std::unique_ptr<ByteStream>;

// How a peer that vanished without closing is noticed (03, 5.1).
struct TcpLiveness {
  std::chrono::seconds idle{15}, interval{5};
  int probes = 3;
  std::chrono::milliseconds user_timeout{30'000};
};

// Connects to a name or a numeric address; tries all addresses of a name in turn. kUnavailable:
// refused, or no such name; kTimeout.
aio::Task<ByteStreamPtr> connect_tcp(std::string host, std::uint16_t port, aio::Deadline deadline,
                                     TcpLiveness liveness = {});
aio::Task<ByteStreamPtr> connect_unix(std::string path, aio::Deadline deadline);

}  // namespace mnet::http
