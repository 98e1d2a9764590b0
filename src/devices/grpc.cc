#include "devices/grpc.h"

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "aio/task.h"
#include "base/error.h"
#include "base/integer.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/byte_stream.h"

namespace mnet::devices {
namespace {

constexpr int kOk = 0, kResourceExhausted = 8, kUnavailable = 14;
// As Go prints them.
constexpr std::array<std::string_view, 17> kStatusNames = {
    "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
    "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
    "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
    "DataLoss", "Unauthenticated"};
// Bytes that the peer may send before we have taken earlier ones.
constexpr std::int32_t kWindow = 256 << 10;

// One message: a flag, four bytes of length, then so many bytes.
class Unframer {
 public:
  explicit Unframer(std::size_t most) : most_(most) {}

  Result<void> feed(std::string_view bytes, const auto& sink) {
    while (!bytes.empty()) {
      if (head_size_ < head_.size()) {
        head_[head_size_++] = static_cast<std::uint8_t>(bytes.front());
        bytes.remove_prefix(1);
        if (head_size_ == head_.size()) MNET_TRY_VOID(read_head());
        continue;
      }
      if (rest_ == 0) return Error(Errc::kProtocol, "more than one message in the answer");
      const std::string_view piece = bytes.substr(0, rest_);
      bytes.remove_prefix(piece.size());
      rest_ -= piece.size();
      MNET_TRY_VOID(sink(piece));
    }
    return {};
  }
  bool is_whole() const { return head_size_ == head_.size() && rest_ == 0; }

 private:
  Result<void> read_head() {
    if (head_[0] != 0) return Error(Errc::kProtocol, "the answer is compressed");
    rest_ = std::size_t{head_[1]} << 24 | std::size_t{head_[2]} << 16 | std::size_t{head_[3]} << 8 |
            std::size_t{head_[4]};
    if (rest_ <= most_) return {};
    return Error(Errc::kProtocol,
                 cat("an answer of ", rest_, " bytes; ", most_, " are the most that is read"));
  }

  const std::size_t most_;
  std::array<std::uint8_t, 5> head_{};
  std::size_t head_size_ = 0, rest_ = 0;
};

struct DeleteSession {
  void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
};
struct DeleteCallbacks {
  void operator()(nghttp2_session_callbacks* callbacks) const {
    nghttp2_session_callbacks_del(callbacks);
  }
};

// The client's side of the stream. nghttp2 calls it from receive().
class Exchange {
 public:
  explicit Exchange(GrpcCall call) : call_(std::move(call)), answer_(call_.max_bytes) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  const GrpcCall& call() const { return call_; }

  Result<void> begin();
  // What is to be sent now.
  Result<std::string> outgoing();
  Result<void> receive(std::string_view bytes);
  bool is_over() const { return closed_.has_value(); }
  // Of a call that is over.
  Result<void> outcome() const;

 private:
  static ssize_t no_body(nghttp2_session*, std::int32_t, std::uint8_t* buffer, std::size_t size,
                         std::uint32_t* flags, nghttp2_data_source*, void*);
  static Exchange& self(void* user) { return *static_cast<Exchange*>(user); }
  static int on_header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                       std::uint8_t, void* user);
  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t, const std::uint8_t* bytes,
                     std::size_t size, void* user);
  static int on_close(nghttp2_session*, std::int32_t, std::uint32_t code, void* user);

  void take_header(std::string_view name, std::string_view value);
  Result<void> submit();

  const GrpcCall call_;
  std::unique_ptr<nghttp2_session, DeleteSession> session_;
  Unframer answer_;
  std::optional<int> http_status_, grpc_status_;
  std::string message_;
  std::optional<std::uint32_t> closed_;  // the code with which the stream ended
  std::optional<Error> failure_;         // of a callback
};

Error http2_error(std::string_view doing, int code) {
  return Error(Errc::kProtocol, cat("HTTP/2: ", doing, ": ", nghttp2_strerror(code)));
}

Result<void> Exchange::begin() {
  nghttp2_session_callbacks* made = nullptr;
  if (const int code = nghttp2_session_callbacks_new(&made); code != 0) {
    return http2_error("no callbacks", code);
  }
  const std::unique_ptr<nghttp2_session_callbacks, DeleteCallbacks> callbacks(made);
  nghttp2_session_callbacks_set_on_header_callback(made, on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, on_data);
  nghttp2_session_callbacks_set_on_stream_close_callback(made, on_close);
  nghttp2_session* session = nullptr;
  if (const int code = nghttp2_session_client_new(&session, made, this); code != 0) {
    return http2_error("no session", code);
  }
  session_.reset(session);
  return submit();
}

Result<void> Exchange::submit() {
  const std::array<nghttp2_settings_entry, 3> settings{{
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWindow},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, 16u << 10},
  }};
  int code =
      nghttp2_submit_settings(session_.get(), NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  if (code == 0) {
    code = nghttp2_session_set_local_window_size(session_.get(), NGHTTP2_FLAG_NONE, 0, kWindow);
  }
  if (code != 0) return http2_error("settings", code);
  const auto header = [](std::string_view name, std::string_view value) {
    const auto bytes = [](std::string_view text) {
      return reinterpret_cast<std::uint8_t*>(
          const_cast<char*>(text.data()));  // copied, not changed
    };
    return nghttp2_nv{bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
  };
  const std::array headers{
      header(":method", "POST"),     header(":scheme", "http"),
      header(":path", call_.method), header(":authority", "localhost"),
      header("te", "trailers"),      header("content-type", "application/grpc")};
  nghttp2_data_provider body{};
  body.read_callback = no_body;
  const std::int32_t stream = nghttp2_submit_request(session_.get(), nullptr, headers.data(),
                                                     headers.size(), &body, nullptr);
  return stream > 0 ? Result<void>() : http2_error("request", stream);
}

// The head of an empty message.
ssize_t Exchange::no_body(nghttp2_session*, std::int32_t, std::uint8_t* buffer, std::size_t size,
                          std::uint32_t* flags, nghttp2_data_source*, void*) {
  constexpr std::size_t kHead = 5;
  if (size < kHead) return NGHTTP2_ERR_CALLBACK_FAILURE;
  std::memset(buffer, 0, kHead);
  *flags |= NGHTTP2_DATA_FLAG_EOF;
  return kHead;
}

Result<std::string> Exchange::outgoing() {
  std::string out;
  for (;;) {
    const std::uint8_t* bytes = nullptr;
    const auto size = nghttp2_session_mem_send(session_.get(), &bytes);
    if (size < 0) return http2_error("sending", static_cast<int>(size));
    if (size == 0) return out;
    out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  }
}

Result<void> Exchange::receive(std::string_view bytes) {
  const auto taken = nghttp2_session_mem_recv(
      session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (failure_) return *failure_;
  if (taken < 0) return http2_error("receiving", static_cast<int>(taken));
  return {};
}

int Exchange::on_header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t* name,
                        std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                        std::uint8_t, void* user) {
  self(user).take_header({reinterpret_cast<const char*>(name), name_size},
                         {reinterpret_cast<const char*>(value), value_size});
  return 0;
}

void Exchange::take_header(std::string_view name, std::string_view value) {
  if (name == ":status") http_status_ = parse_integer<int>(value);
  if (name == "grpc-status") grpc_status_ = parse_integer<int>(value);
  if (name == "grpc-message") message_ = value.substr(0, kShown + 1);
}

int Exchange::on_data(nghttp2_session*, std::uint8_t, std::int32_t, const std::uint8_t* bytes,
                      std::size_t size, void* user) {
  Exchange& exchange = self(user);
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  auto fed = exchange.answer_.feed(text, exchange.call_.sink);
  if (fed) return 0;
  exchange.failure_ = std::move(fed).error();
  return NGHTTP2_ERR_CALLBACK_FAILURE;
}

int Exchange::on_close(nghttp2_session*, std::int32_t, std::uint32_t code, void* user) {
  self(user).closed_ = code;
  return 0;
}

Result<void> Exchange::outcome() const {
  if (grpc_status_ == kOk && *closed_ == NGHTTP2_NO_ERROR) {
    if (answer_.is_whole()) return {};
    return Error(Errc::kProtocol, "the answer is cut short");
  }
  if (!grpc_status_) {
    // The server goes away before it has seen the request, or cuts the answer off.
    if (*closed_ != NGHTTP2_NO_ERROR) {
      return Error(Errc::kUnavailable,
                   cat("the stream was ended with ", nghttp2_http2_strerror(*closed_)));
    }
    return Error(Errc::kProtocol,
                 cat("an answer without a status of gRPC, HTTP status ", http_status_.value_or(0)));
  }
  const auto number = static_cast<std::size_t>(*grpc_status_);
  const bool passes = *grpc_status_ == kResourceExhausted || *grpc_status_ == kUnavailable;
  return Error(passes ? Errc::kUnavailable : Errc::kProtocol,
               cat(number < kStatusNames.size() ? kStatusNames[number] : "unknown status", " (",
                   *grpc_status_, ")", message_.empty() ? "" : ": ", excerpt(message_)));
}

Error cut_off() {
  return Error(Errc::kUnavailable, "the connection was closed before the answer was whole");
}

// A connection that breaks counts as cut off.
Error as_cut_off(const Error& error) {
  return error.code() == Errc::kIo ? Error(Errc::kUnavailable, error.text(), error.os_errno())
                                   : error;
}

aio::Task<void> exchange_all(std::shared_ptr<Exchange> exchange) {
  const aio::Deadline deadline = exchange->call().deadline;
  MNET_CO_TRY(auto&& stream, co_await http::connect_unix(exchange->call().socket, deadline));
  MNET_CO_TRY_VOID(exchange->begin());
  while (!exchange->is_over()) {
    MNET_CO_TRY(auto&& bytes, exchange->outgoing());
    if (!bytes.empty()) {
      auto written = co_await stream->write(std::move(bytes), deadline);
      if (!written) co_return as_cut_off(written.error());
    }
    auto came = co_await stream->read(deadline);
    if (!came) co_return as_cut_off(came.error());
    if (came->empty()) co_return cut_off();
    MNET_CO_TRY_VOID(exchange->receive(*came));
  }
  co_return exchange->outcome();
}

}  // namespace

aio::Task<void> call_grpc(GrpcCall call) {
  const std::string what = cat(call.socket, ": ", call.method);
  const auto exchange = std::make_shared<Exchange>(std::move(call));
  auto done = co_await exchange_all(exchange);
  if (!done) co_return std::move(done).error().wrap(what);
  co_return Result<void>();
}

}  // namespace mnet::devices
