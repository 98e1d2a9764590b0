#include "http/message.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/core/detail/string_view.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "http/http.h"

namespace mnet::http {
namespace {

namespace beast = boost::beast;
using boost::system::error_code;
using Text = beast::string_view;

std::string to_text(Text text) { return {text.data(), text.size()}; }

// Where the callbacks of both kinds of parser put what they find.
struct Sink {
  Head head;
  std::string body;
  std::uint64_t max_body = 0;

  std::size_t take(Text bytes, error_code& failure) {
    if (bytes.size() > max_body - std::min<std::uint64_t>(max_body, body.size())) {
      failure = beast::http::error::body_limit;
      return 0;
    }
    body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
};

template <bool kIsRequest>
class Parser final : public beast::http::basic_parser<kIsRequest> {
 public:
  explicit Parser(Sink& sink) : sink_(sink) {
    // The callers count the bytes of the head themselves and bound the body per call.
    this->header_limit(std::numeric_limits<std::uint32_t>::max());
    this->body_limit(boost::none);
    this->eager(true);
  }

 private:
  using Length = boost::optional<std::uint64_t>;

  void on_request_impl(beast::http::verb, Text method, Text target, int version,
                       error_code& failure) override {
    failure = {};
    sink_.head.method = to_text(method);
    sink_.head.target = to_text(target);
    sink_.head.is_1_1 = version == 11;
  }
  void on_response_impl(int status, Text, int version, error_code& failure) override {
    failure = {};
    sink_.head.status = status;
    sink_.head.is_1_1 = version == 11;
  }
  void on_field_impl(beast::http::field, Text name, Text value, error_code& failure) override {
    failure = {};
    // Trailers come here too; a sender must not smuggle in a header after the body.
    if (!this->is_header_done()) sink_.head.headers.emplace_back(to_text(name), to_text(value));
  }
  void on_header_impl(error_code& failure) override {
    failure = {};
    sink_.head.is_chunked = this->chunked();
    if (const Length length = this->content_length()) sink_.head.content_length = *length;
  }
  void on_body_init_impl(const Length&, error_code& failure) override { failure = {}; }
  std::size_t on_body_impl(Text bytes, error_code& failure) override {
    failure = {};
    return sink_.take(bytes, failure);
  }
  void on_chunk_header_impl(std::uint64_t size, Text, error_code& failure) override {
    failure = {};
    if (size > sink_.max_body - std::min<std::uint64_t>(sink_.max_body, sink_.body.size())) {
      failure = beast::http::error::body_limit;
    }
  }
  std::size_t on_chunk_body_impl(std::uint64_t, Text bytes, error_code& failure) override {
    failure = {};
    return sink_.take(bytes, failure);
  }
  void on_finish_impl(error_code& failure) override { failure = {}; }

  Sink& sink_;
};

Error error_of(const error_code& failure) {
  if (failure == beast::http::error::body_limit) {
    return Error(Errc::kDenied, "request body too large");
  }
  return Error(Errc::kInvalid, cat("malformed HTTP: ", failure.message()));
}

// A sender that ends its lines with a bare newline would never show the blank line that the parser
// waits for.
bool has_bare_newline(std::string_view head) {
  for (std::size_t at = head.find('\n'); at != std::string_view::npos;
       at = head.find('\n', at + 1)) {
    if (at == 0 || head[at - 1] != '\r') return true;
  }
  return false;
}

// `chunked` is the only transfer coding that we can read; any other would hide the body from us.
bool has_unknown_coding(const Head& head) {
  const std::string* coding = find_header(head.headers, "Transfer-Encoding");
  return coding != nullptr && !equal_ignoring_case(trim(*coding), "chunked");
}

}  // namespace

struct Message::Impl {
  explicit Impl(MessageKind which) : parser(std::in_place_type<Parser<true>>, sink) {
    if (which == MessageKind::kRequest) return;
    parser.emplace<Parser<false>>(sink).skip(which == MessageKind::kResponseToHead);
  }

  bool is_request() const { return std::holds_alternative<Parser<true>>(parser); }
  std::size_t put(std::string_view bytes, error_code& failure) {
    const boost::asio::const_buffer buffer(bytes.data(), bytes.size());
    return std::visit([&](auto& one) { return one.put(buffer, failure); }, parser);
  }
  void eager(bool on) {
    std::visit([&](auto& one) { one.eager(on); }, parser);
  }
  bool has_head() const {
    return std::visit([](const auto& one) { return one.is_header_done(); }, parser);
  }
  bool done() const {
    return std::visit([](const auto& one) { return one.is_done(); }, parser);
  }

  Sink sink;
  std::variant<Parser<true>, Parser<false>> parser;
};

Message::Message(MessageKind kind) : impl_(std::make_unique<Impl>(kind)) {}
Message::~Message() = default;

Result<std::size_t> Message::take_head(std::string_view bytes) {
  // Blank lines before a request are skipped (RFC 9112, 2.2).
  std::size_t blank = 0;
  if (impl_->is_request() && impl_->sink.head.method.empty()) {
    while (bytes.substr(blank).starts_with("\r\n")) blank += 2;
  }
  const std::string_view rest = bytes.substr(blank);
  if (rest.empty() || rest == "\r") return blank;

  error_code failure;
  impl_->eager(false);
  const std::size_t used = impl_->put(rest, failure);
  if (failure && failure != beast::http::error::need_more) return error_of(failure);
  if (!has_head()) {
    if (has_bare_newline(rest)) return Error(Errc::kInvalid, "malformed HTTP: bare newline");
    return blank + used;
  }
  if (has_unknown_coding(head())) {
    return Error(Errc::kInvalid, "malformed HTTP: unknown transfer coding");
  }
  return blank + used;
}

Result<std::size_t> Message::take_body(std::string_view bytes, std::uint64_t max_bytes) {
  if (done() || bytes.empty()) return std::size_t{0};
  // Beast 1.81 asserts that an empty chunked body (`0\r\n\r\n`) comes in one piece.
  if (head().is_chunked && body().empty() && bytes.size() < 5) return std::size_t{0};
  error_code failure;
  impl_->eager(true);
  impl_->sink.max_body = max_bytes;
  const std::size_t used = impl_->put(bytes, failure);
  if (failure && failure != beast::http::error::need_more) return error_of(failure);
  return used;
}

Result<void> Message::take_end() {
  if (done()) return {};
  auto* response = std::get_if<Parser<false>>(&impl_->parser);
  if (response != nullptr && has_head()) {
    error_code failure;
    response->put_eof(failure);
    if (!failure) return {};
  }
  return Error(Errc::kProtocol, "unexpected end of the message");
}

bool Message::has_head() const { return impl_->has_head(); }
bool Message::done() const { return impl_->done(); }
const Head& Message::head() const { return impl_->sink.head; }
std::string& Message::body() { return impl_->sink.body; }

}  // namespace mnet::http
