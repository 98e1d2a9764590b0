// The variables that name proxies and their exceptions, and the decision on a target. The first
// line is the target, the second the proxy, the rest NO_PROXY.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "http/proxy.h"
#include "http/url.h"

namespace {

using mnet::cat;
using mnet::http::Url;

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

bool goes_direct(const Url& target, std::string_view exceptions) {
  const auto proxy = mnet::http::proxy_of_environment(
      target, {"HTTPS_PROXY=p", "HTTP_PROXY=p", cat("NO_PROXY=", exceptions)});
  return proxy && !*proxy;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto target = mnet::http::parse_url(take_line(text));
  const std::string_view named = take_line(text);
  if (!target) return 0;
  (void)mnet::http::proxy_of_environment(
      *target, {cat("https_proxy=", named), cat("http_proxy=", named), cat("no_proxy=", text)});

  // Each entry counts for itself.
  const auto entries = mnet::split(text, ',');
  const bool is_listed = std::ranges::any_of(
      entries, [&](std::string_view entry) { return goes_direct(*target, entry); });
  if (goes_direct(*target, text) != is_listed) std::abort();
  if (!goes_direct(*target, cat(text, ",*"))) std::abort();
  return 0;
}
