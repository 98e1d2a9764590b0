#include "kube/exec.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "aio/task.h"
#include "base/error.h"
#include "base/integer.h"
#include "base/random_number.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/http.h"
#include "http/origin_client.h"
#include "json/at.h"
#include "json/json.h"
#include "kube/api.h"
#include "kube/objects.h"
#include "kube/reply.h"

namespace mnet::kube {
namespace {

constexpr std::size_t kMaxMessage = 1u << 20;
constexpr std::uint8_t kText = 1, kBinary = 2, kClose = 8;
constexpr std::uint8_t kStdout = 1, kStderr = 2, kStatus = 3;

std::string path_of(const Exec& what) {
  std::string path = cat(pod_path(what.ns, what.pod), "/exec?stdout=true&stderr=true");
  if (!what.container.empty()) path += cat("&container=", query_value(what.container));
  for (const std::string& word : what.command) path += cat("&command=", query_value(word));
  return path;
}

// RFC 6455, 4.1. The key only shows caches that do not know the protocol; a server that switches
// says so in its headers.
http::Headers upgrade_headers() {
  std::string key;
  for (int i = 0; i < 2; ++i) {
    std::uint64_t number = random_number();
    for (int byte = 0; byte < 8; ++byte, number >>= 8) key += static_cast<char>(number & 0xff);
  }
  return {{"Connection", "Upgrade"},
          {"Upgrade", "websocket"},
          {"Sec-WebSocket-Version", "13"},
          {"Sec-WebSocket-Key", to_base64(key)},
          {"Sec-WebSocket-Protocol", "v5.channel.k8s.io, v4.channel.k8s.io"}};
}

Error refusal(const Exec& what, const Reply& reply) {
  Error error = reply.error();
  if (error.code() != Errc::kDenied) return error;
  return error.with_text(
      cat("needs the right to get, from Kubernetes 1.35 on also to create, "
          "pods/exec in namespace ",
          what.ns, ": ", error.text()));
}

Result<void> check_switched(const http::ResponseStream& answer) {
  const std::string* upgrade = http::find_header(answer.headers(), "Upgrade");
  const std::string* protocol = http::find_header(answer.headers(), "Sec-WebSocket-Protocol");
  const bool is_known =
      protocol != nullptr && (*protocol == "v5.channel.k8s.io" || *protocol == "v4.channel.k8s.io");
  if (upgrade != nullptr && equal_ignoring_case(*upgrade, "websocket") && is_known) return {};
  return Error(Errc::kProtocol, "the server switched to a protocol that we did not offer");
}

Result<void> append(std::string& out, std::string_view bytes) {
  if (out.size() + bytes.size() > kMaxExecOutput) {
    return Error(Errc::kProtocol, "the command prints too much");
  }
  out += bytes;
  return {};
}

// Puts the messages of the command where they belong; done when its status is there.
class Channels {
 public:
  bool has_ended() const { return has_ended_; }
  ExecOutput take() { return std::move(output_); }

  Result<void> put(const FrameReader::Message& message) {
    if (message.opcode == kClose) {
      return Error(Errc::kProtocol, "the server closed the connection before the command ended");
    }
    if ((message.opcode != kText && message.opcode != kBinary) || message.payload.empty())
      return {};
    const auto channel = static_cast<std::uint8_t>(message.payload.front());
    const std::string_view bytes = std::string_view(message.payload).substr(1);
    if (channel == kStdout) return append(output_.out, bytes);
    if (channel == kStderr) return append(output_.err, bytes);
    if (channel != kStatus) return {};
    MNET_TRY(output_.exit_code, parse_exit_status(bytes));
    has_ended_ = true;
    return {};
  }

 private:
  ExecOutput output_;
  bool has_ended_ = false;
};

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

}  // namespace

Result<std::optional<FrameReader::Message>> FrameReader::next() {
  for (;;) {
    if (bytes_.size() < 2) return std::optional<Message>();
    const auto first = static_cast<unsigned char>(bytes_[0]);
    const auto second = static_cast<unsigned char>(bytes_[1]);
    if ((second & 0x80) != 0) return Error(Errc::kProtocol, "WebSocket: a masked frame");
    const std::size_t extra = (second & 0x7f) == 126 ? 2 : (second & 0x7f) == 127 ? 8 : 0;
    if (bytes_.size() < 2 + extra) return std::optional<Message>();
    const std::uint64_t length =
        extra == 0 ? second & 0x7f : big_endian(std::string_view(bytes_).substr(2, extra));
    const std::size_t before = begun_ ? begun_->payload.size() : 0;
    if (length > kMaxMessage || before + length > kMaxMessage) {
      return Error(Errc::kProtocol, "WebSocket: the message is too large");
    }
    if (bytes_.size() < 2 + extra + length) return std::optional<Message>();
    const std::string payload = bytes_.substr(2 + extra, length);
    bytes_.erase(0, 2 + extra + length);
    const auto opcode = static_cast<std::uint8_t>(first & 0x0f);
    const bool is_last = (first & 0x80) != 0;
    if (opcode >= kClose) {  // control frames come between fragments
      if (!is_last) return Error(Errc::kProtocol, "WebSocket: a fragmented control frame");
      return std::optional<Message>({opcode, payload});
    }
    if ((opcode == 0) != begun_.has_value()) {
      return Error(Errc::kProtocol, "WebSocket: a fragment out of order");
    }
    if (opcode != 0) begun_.emplace(Message{opcode, {}});
    begun_->payload += payload;
    if (is_last) return std::exchange(begun_, std::nullopt);
  }
}

Result<int> parse_exit_status(std::string_view text) {
  MNET_TRY(const json::Object status, json::parse_object(text));
  if (json::text_at(status, {"status"}) == "Success") return 0;
  for (const json::Object* cause : json::objects_of(json::find_at(status, {"details", "causes"}))) {
    if (json::text_at(*cause, {"reason"}) != "ExitCode") continue;
    const std::string code = json::text_at(*cause, {"message"});
    if (const auto number = parse_integer<int>(code)) return *number;
  }
  return Error(Errc::kUnavailable,
               cat("the command cannot be run: ", excerpt(json::text_at(status, {"message"}))));
}

aio::Task<ExecOutput> exec(Api* api, Exec what, aio::Deadline deadline) {
  MNET_CO_TRY(auto&& answer, co_await api->open(path_of(what), deadline, upgrade_headers()));
  if (answer->status() != 101) {
    MNET_CO_TRY(auto&& body, co_await http::read_whole(answer.get(), kMaxMessage, deadline));
    co_return refusal(what, Reply{.status = answer->status(), .body = std::move(body)});
  }
  MNET_CO_TRY_VOID(check_switched(*answer));
  FrameReader frames;
  Channels channels;
  while (!channels.has_ended()) {
    MNET_CO_TRY(auto&& bytes, co_await answer->read(deadline));
    if (bytes.empty()) {
      co_return Error(Errc::kIo, "the connection was closed before the command ended");
    }
    frames.put(bytes);
    for (;;) {
      MNET_CO_TRY(auto&& message, frames.next());
      if (!message || channels.has_ended()) break;
      MNET_CO_TRY_VOID(channels.put(*message));
    }
  }
  co_return channels.take();
}

}  // namespace mnet::kube
