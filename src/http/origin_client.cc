#include "http/origin_client.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/byte_stream.h"
#include "http/http.h"
#include "http/message.h"
#include "http/proxy.h"
#include "http/tls.h"
#include "http/url.h"

namespace mnet::http {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMaxChunkLine = 64u << 10;
constexpr std::size_t kMaxHead = 64u << 10;

std::string head_of(const ClientRequest& request, const OriginSettings& settings) {
  const Url& origin = settings.origin;
  const bool absolute = settings.proxy && needs_absolute_form(*settings.proxy, origin);
  const std::string whole = absolute ? cat("http://", origin.authority()) : "";
  std::string head =
      cat(request.method, " ", whole, origin.path, request.target,
          " HTTP/1.1\r\nHost: ", settings.unix_socket.empty() ? origin.authority() : request.host,
          "\r\n");
  if (absolute) {
    const std::string password = proxy_authorization(*settings.proxy);
    if (!password.empty()) head += cat("Proxy-Authorization: ", password, "\r\n");
  }
  for (const auto& [name, value] : request.headers) head += cat(name, ": ", value, "\r\n");
  const bool may_have_body = request.method != "GET" && request.method != "HEAD";
  if (may_have_body || !request.body.empty()) {
    head += cat("Content-Length: ", request.body.size(), "\r\n");
  }
  return head + "\r\n";
}

bool stays_open(const Head& head) {
  const std::string* connection = find_header(head.headers, "Connection");
  if (connection != nullptr && equal_ignoring_case(trim(*connection), "close")) return false;
  return head.is_1_1 && (head.is_chunked || head.content_length || head.status == 204);
}

// A token file or a name with a line break in it would make two headers, or two requests, of one.
Result<void> check(const ClientRequest& request) {
  const auto is_control = [](char byte) {
    return (byte >= 0 && byte < ' ' && byte != '\t') || byte == 0x7f;
  };
  for (const auto& [name, value] : request.headers) {
    if (std::ranges::any_of(value, is_control)) {
      return Error(Errc::kInvalid,
                   cat("the value of the header ", name, " has a control character"));
    }
  }
  const auto breaks = [&](char byte) { return byte == ' ' || byte == '\t' || is_control(byte); };
  if (std::ranges::any_of(request.target, breaks)) {
    return Error(Errc::kInvalid, cat("not a path: ", go_quoted(request.target)));
  }
  return {};
}

struct Connection {
  ByteStreamPtr stream;
  std::uint64_t generation = 0;  // of the TLS settings it was made with
  bool was_used = false;
  Clock::time_point idle_since = {};
};

}  // namespace

struct OriginClient::State : std::enable_shared_from_this<State> {
  State(OriginSettings the_settings, TlsContextPtr the_tls)
      : settings(std::move(the_settings)), tls(std::move(the_tls)) {}

  void give_back(Connection connection) {
    if (connection.generation != generation || is_closed) return;
    connection.was_used = true;
    connection.idle_since = Clock::now();
    idle.push_back(std::move(connection));
    close_idle(settings.idle_connections);
  }

  void close_idle(std::size_t most) {
    while (idle.size() > most) idle.pop_front();
  }

  std::optional<Connection> take_idle() {
    const auto oldest = Clock::now() - settings.idle_time;
    std::erase_if(idle, [&](Connection& connection) {
      return connection.idle_since < oldest || !connection.stream->is_quiet();
    });
    if (idle.empty()) return std::nullopt;
    Connection connection = std::move(idle.back());  // the others may go out of use
    idle.pop_back();
    return connection;
  }

  aio::Task<Connection> connect(aio::Deadline deadline) {
    deadline = std::min(deadline, Clock::now() + settings.connect_time);
    Connection out{.stream = {}, .generation = generation};
    const TlsContextPtr trusted = tls;  // may change meanwhile
    Result<ByteStreamPtr> stream;
    if (!settings.unix_socket.empty()) {
      stream = co_await connect_unix(settings.unix_socket, deadline);
    } else if (settings.proxy) {
      stream = co_await connect_through(*settings.proxy, trusted, settings.origin, deadline);
    } else {
      stream = co_await connect_tcp(settings.origin.host, settings.origin.port, deadline);
    }
    if (stream && settings.origin.scheme == "https") {
      const std::string name =
          settings.tls_server_name.empty() ? settings.origin.host : settings.tls_server_name;
      stream = co_await start_tls(*std::move(stream), trusted, name, deadline);
    }
    if (!stream) co_return std::move(stream).error();
    out.stream = *std::move(stream);
    co_return out;
  }

  OriginSettings settings;
  TlsContextPtr tls;
  std::uint64_t generation = 0;
  std::deque<Connection> idle;
  bool is_closed = false;
};

namespace {

template <typename State>
class Answer final : public ResponseStream {
 public:
  Answer(std::shared_ptr<State> state, Connection connection, MessageKind kind)
      : state_(std::move(state)), connection_(std::move(connection)), message_(kind) {}

  // Whether anything of the answer has come.
  bool has_begun() const { return has_begun_; }

  aio::Task<void> exchange(std::string request, aio::Deadline deadline) {
    auto sent = co_await connection_.stream->write(std::move(request), deadline);
    if (!sent && sent.error().code() != Errc::kIo) co_return sent;
    // A server that refuses early answers before it has read everything: its answer counts more.
    while (!message_.has_head()) {
      auto bytes = co_await connection_.stream->read(deadline);
      if (!bytes) co_return sent ? std::move(bytes).error() : std::move(sent).error();
      if (bytes->empty()) {
        co_return Error(has_begun_ ? Errc::kProtocol : Errc::kIo,
                        "connection closed before the answer");
      }
      has_begun_ = true;
      unread_ += *bytes;
      auto used = message_.take_head(unread_);
      if (!used) co_return Error(Errc::kProtocol, used.error().text());
      unread_.erase(0, *used);
      if (!message_.has_head() && unread_.size() > kMaxHead) {
        co_return Error(Errc::kProtocol, "response header too large");
      }
    }
    finish_if_done();
    co_return Result<void>();
  }

  int status() const override { return message_.head().status; }
  const Headers& headers() const override { return message_.head().headers; }

  aio::Task<std::string> read(aio::Deadline deadline) override {
    if (is_switched()) {
      if (!unread_.empty()) co_return std::exchange(unread_, {});
      co_return co_await connection_.stream->read(deadline);
    }
    for (;;) {
      MNET_CO_TRY(auto&& taken, take_unread());
      if (!taken.empty() || message_.done()) co_return taken;
      MNET_CO_TRY(auto&& bytes, co_await connection_.stream->read(deadline));
      if (bytes.empty()) {
        MNET_CO_TRY_VOID(message_.take_end());
        co_return std::string();
      }
      unread_ += bytes;
      if (unread_.size() > kMaxChunkLine + bytes.size()) {
        co_return Error(Errc::kProtocol, "malformed HTTP: chunk header too large");
      }
    }
  }

 private:
  // What the bytes at hand hold of the body. One byte stays in the message's own body, because the
  // parser holds back short pieces as long as that is empty.
  Result<std::string> take_unread() {
    auto used = message_.take_body(unread_, std::numeric_limits<std::uint64_t>::max());
    if (!used) return Error(Errc::kProtocol, used.error().text());
    unread_.erase(0, *used);
    std::string& body = message_.body();
    std::string piece = has_marker_ ? body.substr(1) : body;
    if (!has_marker_ && !body.empty()) has_marker_ = true;
    if (has_marker_) body.assign(1, ' ');
    finish_if_done();
    return piece;
  }

  bool is_switched() const { return message_.head().status == 101; }

  void finish_if_done() {
    if (!message_.done() || !connection_.stream || is_switched()) return;
    if (stays_open(message_.head()) && unread_.empty()) state_->give_back(std::move(connection_));
    connection_.stream.reset();
  }

  std::shared_ptr<State> state_;
  Connection connection_;
  Message message_;
  std::string unread_;
  bool has_begun_ = false;
  bool has_marker_ = false;
};

}  // namespace

aio::Task<std::string> read_whole(ResponseStream* response, std::size_t max_bytes,
                                  aio::Deadline deadline) {
  std::string body;
  for (;;) {
    MNET_CO_TRY(auto&& piece, co_await response->read(deadline));
    if (piece.empty()) co_return body;
    if (body.size() + piece.size() > max_bytes) {
      co_return Error(Errc::kProtocol, "response too large");
    }
    body += piece;
  }
}

OriginClient::OriginClient(OriginSettings settings, TlsContextPtr tls)
    : state_(std::make_shared<State>(std::move(settings), std::move(tls))) {}

OriginClient::~OriginClient() {
  state_->is_closed = true;
  state_->idle.clear();
}

void OriginClient::set_tls(TlsContextPtr tls) {
  state_->tls = std::move(tls);
  ++state_->generation;
  state_->idle.clear();
}

std::size_t OriginClient::idle_connections() const { return state_->idle.size(); }

void OriginClient::close_idle(std::size_t most) { state_->close_idle(most); }

aio::Task<std::unique_ptr<ResponseStream>> OriginClient::open(ClientRequest request,
                                                              aio::Deadline deadline) {
  MNET_CO_TRY_VOID(check(request));
  const std::shared_ptr<State> state = state_;
  const std::string bytes = head_of(request, state->settings) + request.body;
  const MessageKind kind =
      request.method == "HEAD" ? MessageKind::kResponseToHead : MessageKind::kResponse;
  for (;;) {
    auto idle = state->take_idle();
    const bool is_reused = idle.has_value();
    Result<Connection> connection;
    if (is_reused) {
      connection = *std::move(idle);
    } else {
      connection = co_await state->connect(deadline);
    }
    if (!connection) co_return std::move(connection).error();
    auto answer = std::make_unique<Answer<State>>(state, *std::move(connection), kind);
    auto done = co_await answer->exchange(bytes, deadline);
    if (done) co_return std::unique_ptr<ResponseStream>(std::move(answer));
    const bool died_idle = is_reused && !answer->has_begun() && done.error().code() == Errc::kIo;
    if (!died_idle || request.method == "POST") co_return std::move(done).error();
  }
}

}  // namespace mnet::http
