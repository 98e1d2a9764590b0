#include "nodeconf/service_account.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/file.h"

namespace mnet::nodeconf {
namespace {

constexpr std::size_t kLargest = 1u << 20;
constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view kEnd = "-----END CERTIFICATE-----";

bool is_printable(char c) { return c > ' ' && c != '\x7f'; }

Result<std::string> read_token(const std::string& path) {
  MNET_TRY(auto&& text, sys::read_file(path, kLargest));
  const std::string_view token = trim(text);
  if (token.empty()) return Error(Errc::kUnavailable, cat(path, " is empty"));
  if (!std::ranges::all_of(token, is_printable)) {
    return Error(Errc::kInvalid, cat(path, " does not hold a token"));
  }
  return std::string(token);
}

Result<std::string> read_ca(const std::string& path) {
  MNET_TRY(auto&& text, sys::read_file(path, kLargest));
  if (trim(text).empty()) return Error(Errc::kUnavailable, cat(path, " is empty"));
  const std::size_t last = text.rfind(kBegin);
  if (last == std::string::npos || text.find(kEnd, last) == std::string::npos) {
    return Error(Errc::kInvalid, cat(path, " does not hold a complete certificate"));
  }
  return text;
}

}  // namespace

Result<ServiceAccount> read_service_account(const std::string& folder, bool needs_ca) {
  auto token = read_token(cat(folder, "/token"));
  if (!token) return std::move(token).error().wrap("service account token");
  auto ca = read_ca(cat(folder, "/ca.crt"));
  if (!ca && needs_ca) return std::move(ca).error().wrap("service account CA");
  return ServiceAccount{.token = *std::move(token), .ca = ca ? *std::move(ca) : std::string()};
}

}  // namespace mnet::nodeconf
