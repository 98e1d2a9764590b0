// What the API server answered, and what follows from it.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/http.h"

namespace mnet::kube {

// The longest body of a refusal that is read.
inline constexpr std::size_t kMostOfRefusal = 256u << 10;

// The object `Status` that comes with every refusal.
struct Status {
  int code = 0;
  std::string reason = {}, message = {};
  std::optional<std::chrono::seconds> retry_after = {};  // details.retryAfterSeconds
  // details.causes: the server does not know the asked resourceVersion yet, or never will.
  bool is_version_too_large = false;
  bool is_terminating = false;  // the namespace is being deleted: nothing new gets into it
};

// Any JSON text; an answer that is not a Status keeps its beginning as the message.
Status parse_status(int http_status, std::string_view body);

struct Reply {
  int status = 0;  // of HTTP
  std::string body = {};
  std::optional<std::chrono::seconds> retry_after = {};  // of the header, or of the Status

  bool ok() const { return status / 100 == 2; }
  // For answers that are not ok. kNotFound, kConflict (409), kDenied (401, 403), kInvalid (400,
  // 422), kUnavailable (429, 5xx), else kProtocol. The text is the server's.
  Error error() const;
};

Error error_of(const Status& status);
bool is_gone(const Status& status);  // 410, or reason Expired or Gone

// Whether the same request may succeed a little later: no connection, cut off, time-out, 429 and
// 5xx (03, 5.5).
bool is_transient(const Result<Reply>& reply);
bool is_transient_status(int status);
bool is_transient_error(const Error& error);

// When the server sent its answer, by its own clock; in the one format that servers use
// (`Sun, 06 Nov 1994 08:49:37 GMT`).
std::optional<std::chrono::sys_seconds> parse_date(const http::Headers& headers);
// Seconds as in the header; dates are not used by API servers.
std::optional<std::chrono::seconds> parse_retry_after(const http::Headers& headers);

}  // namespace mnet::kube
