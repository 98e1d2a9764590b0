#include "http/target.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "http/url.h"

namespace mnet::http {
namespace {

bool has_http_scheme(std::string_view target) {
  const std::size_t colon = target.find("://");
  if (colon == std::string_view::npos) return false;
  const std::string_view scheme = target.substr(0, colon);
  return equal_ignoring_case(scheme, "http") || equal_ignoring_case(scheme, "https");
}

}  // namespace

Result<std::string> path_of_target(std::string_view target) {
  if (has_http_scheme(target)) {
    target.remove_prefix(target.find("://") + 3);
    const std::size_t end = target.find_first_of("/?");
    target = end == std::string_view::npos ? std::string_view{} : target.substr(end);
    if (!target.starts_with('/')) return std::string("/");
  }
  if (target == "*") return std::string(target);
  if (!target.starts_with('/')) return Error(Errc::kInvalid, "malformed HTTP: bad target");
  auto path = percent_decoded(target.substr(0, target.find('?')));
  if (!path) return Error(Errc::kInvalid, "malformed HTTP: bad percent-encoding");
  return *std::move(path);
}

}  // namespace mnet::http
