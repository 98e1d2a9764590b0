// A connection to the daemon's socket: POSTs and their answers, each wait with an end. Blocking.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "shim/response.h"
#include "sys/fd.h"

namespace mnet::shim {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

struct Post {
  std::string path;        // "/cni"
  std::string body;        // JSON
  std::string request_id;  // goes into the header X-Request-Id
  Deadline sent_by;
  Deadline answered_by;
  bool is_last = true;  // the daemon may close the connection
};

// Errors read as Go's HTTP client words them; a passed deadline has the code kTimeout.
class Connection {
 public:
  // `dial unix <path>: connect: …`. Nothing was sent when this fails.
  static Result<Connection> open(const std::string& socket, Deadline deadline);

  // The complete answer, whatever its status; the last one if it says so. Once called, bytes may
  // have reached the daemon: a failed one must not be repeated unless the work may be.
  Result<Response> post(const Post& what);
  // Whether the other side has neither closed it nor said anything.
  bool is_quiet() const;

 private:
  explicit Connection(sys::UniqueFd fd) : fd_(std::move(fd)) {}
  sys::UniqueFd fd_;
};

// `failed to send CNI request: Post "http://dummy<path>": …`.
Error not_sent(std::string_view path, const Error& why);

}  // namespace mnet::shim
