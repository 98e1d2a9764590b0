// One unary gRPC call with an empty request over a unix socket: HTTP/2 by nghttp2, which stays
// inside. Knows nothing of the kubelet.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "aio/task.h"

namespace mnet::devices {

struct GrpcCall {
  std::string socket;
  std::string method;                 // `/v1.PodResourcesLister/List`
  std::size_t max_bytes = 16u << 20;  // of the answer
  aio::Deadline deadline = aio::kNoDeadline;
  // Receives the answer piece by piece as it arrives; an error ends the call with it.
  std::function<Result<void>(std::string_view)> sink;
};

// Ends when the whole answer was received and its status is OK. Cancelling closes the connection.
// kUnavailable: no connection (os_errno() ENOENT if there is no socket), cut off before the answer
// was whole, refused with UNAVAILABLE or RESOURCE_EXHAUSTED: all of these may pass. kTimeout.
// kProtocol: another status, an answer that is too large or not gRPC.
aio::Task<void> call_grpc(GrpcCall call);

}  // namespace mnet::devices
