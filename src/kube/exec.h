// Runs a command in a container through the API server and reads what it prints: WebSocket, with
// the subprotocols v5.channel.k8s.io and v4.channel.k8s.io. Nothing is sent to the command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aio/task.h"
#include "base/result.h"
#include "kube/api.h"

namespace mnet::kube {

struct Exec {
  std::string ns, pod;
  std::string container = {};  // empty: the pod's only one
  std::vector<std::string> command;
};

struct ExecOutput {
  std::string out, err;
  int exit_code = 0;
};

// Of each of the two outputs.
inline constexpr std::size_t kMaxExecOutput = 4u << 20;

// An exit code other than 0 is a success here. kDenied names the right that is missing: `get` on
// pods/exec, from Kubernetes 1.35 on `create`, too.
aio::Task<ExecOutput> exec(Api* api, Exec what, aio::Deadline deadline);

// The frames of a WebSocket as a server sends them (RFC 6455, 5.2).
class FrameReader {
 public:
  struct Message {
    std::uint8_t opcode = 0;  // 1 text, 2 binary, 8 close, 9 ping, 10 pong
    std::string payload;
  };

  void put(std::string_view bytes) { bytes_ += bytes; }
  // The next whole message, its fragments joined; none: more bytes are needed. kProtocol: masked,
  // fragmented in a way that is not allowed, or larger than a megabyte.
  Result<std::optional<Message>> next();

 private:
  std::string bytes_;
  std::optional<Message> begun_;  // fragments so far
};

// The exit code of the status that ends a command on the channel for errors (v4): 0 for Success. An
// error if the command could not be run at all.
Result<int> parse_exit_status(std::string_view text);

}  // namespace mnet::kube
