#include "kube/reply.h"

#include <time.h>  // strptime, timegm

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/integer.h"
#include "base/result.h"
#include "base/text.h"
#include "http/http.h"
#include "json/at.h"
#include "json/fields.h"
#include "json/json.h"

namespace mnet::kube {
namespace {

// The longest that a server can make us wait at a time.
constexpr std::int64_t kLongestWait = 300;

// What a server says goes into errors, logs and events; the longest that a healthy one says is
// less.
constexpr std::size_t kMostOfMessage = 4u << 10;

std::optional<std::chrono::seconds> seconds_of(std::int64_t count) {
  if (count <= 0) return std::nullopt;
  return std::chrono::seconds(std::min(count, kLongestWait));
}

Errc code_of(int status) {
  switch (status) {
    case 404:
      return Errc::kNotFound;
    case 409:
      return Errc::kConflict;
    case 401:
    case 403:
      return Errc::kDenied;
    case 400:
    case 422:
      return Errc::kInvalid;
    default:
      return is_transient_status(status) ? Errc::kUnavailable : Errc::kProtocol;
  }
}

std::string reason_of(const json::Value& cause) {
  const json::Object* object = cause.as_object();
  return object == nullptr ? "" : json::text_at(*object, {"reason"});
}

}  // namespace

Status parse_status(int http_status, std::string_view body) {
  Status out{.code = http_status};
  const auto object = json::parse_object(body, 100);
  if (!object) {
    out.message = excerpt(trim(body.substr(0, 300)), 300);
    return out;
  }
  std::int64_t code = http_status, wait = 0;
  json::Fields fields(*object, "", json::Match::kExact);
  fields.read("code", code);
  fields.read("reason", out.reason);
  fields.read("message", out.message);
  out.message = excerpt(out.message, kMostOfMessage);
  fields.object("details", [&](const json::Object& details, const std::string& path) {
    json::Fields inner(details, path, json::Match::kExact);
    inner.read("retryAfterSeconds", wait);
    inner.list("causes", [&out](const json::Value& cause, const std::string&) -> Result<void> {
      const std::string reason = reason_of(cause);
      if (reason == "ResourceVersionTooLarge") out.is_version_too_large = true;
      if (reason == "NamespaceTerminating") out.is_terminating = true;
      return {};
    });
    return inner.done();
  });
  // A Status with members of wrong types is still a refusal.
  (void)fields.done();
  if (code >= 100 && code < 1000) out.code = static_cast<int>(code);
  out.retry_after = seconds_of(wait);
  return out;
}

Error error_of(const Status& status) {
  return Error(code_of(status.code), status.message.empty()
                                         ? cat("the server answered with status ", status.code)
                                         : status.message);
}

Error Reply::error() const { return error_of(parse_status(status, body)); }

bool is_gone(const Status& status) {
  return status.code == 410 || status.reason == "Expired" || status.reason == "Gone";
}

bool is_transient_status(int status) {
  return status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

bool is_transient_error(const Error& error) {
  switch (error.code()) {
    case Errc::kUnavailable:
    case Errc::kTimeout:
    case Errc::kIo:
    case Errc::kProtocol:
      return true;
    default:
      return false;
  }
}

bool is_transient(const Result<Reply>& reply) {
  return reply ? is_transient_status(reply->status) : is_transient_error(reply.error());
}

std::optional<std::chrono::sys_seconds> parse_date(const http::Headers& headers) {
  const std::string* text = http::find_header(headers, "Date");
  if (text == nullptr) return std::nullopt;
  std::tm parts{};
  const char* end = ::strptime(text->c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return std::chrono::sys_seconds(std::chrono::seconds(::timegm(&parts)));
}

std::optional<std::chrono::seconds> parse_retry_after(const http::Headers& headers) {
  const std::string* text = http::find_header(headers, "Retry-After");
  if (text == nullptr) return std::nullopt;
  const auto count = parse_integer<std::int64_t>(*text);
  if (!count) return std::nullopt;
  return seconds_of(*count);
}

}  // namespace mnet::kube
