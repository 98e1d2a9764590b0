#include "kube/event.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/dns_name.h"
#include "base/sha256.h"
#include "base/text.h"
#include "json/json.h"

namespace mnet::kube {
namespace {

std::string hex(std::uint64_t number) {
  std::array<char, 16> digits{};
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return std::string(digits.data(), end);
}

// Of the eighth version: made of a hash.
std::string uuid_of(std::string_view text) {
  const std::string digits = sha256_hex(text);
  const auto part = [&digits](std::size_t at, std::size_t count) {
    return std::string_view(digits).substr(at, count);
  };
  return cat(part(0, 8), "-", part(8, 4), "-8", part(12, 3), "-8", part(15, 3), "-", part(18, 12));
}

}  // namespace

json::Object event_object(Event event, std::string name,
                          std::chrono::system_clock::time_point now) {
  const std::string time = rfc3339_utc(now);
  return json::Object{
      {"kind", "Event"},
      {"apiVersion", "v1"},
      {"metadata", json::Object{{"name", std::move(name)}, {"namespace", std::move(event.ns)}}},
      {"involvedObject", std::move(event.involved)},
      {"reason", std::move(event.reason)},
      {"message", std::move(event.message)},
      {"type", event.is_warning ? "Warning" : "Normal"},
      {"source", json::Object{{"component", event.component}}},
      {"reportingComponent", event.component},
      {"firstTimestamp", time},
      {"lastTimestamp", time},
      {"count", 1}};
}

std::string event_name(const std::string& of, std::chrono::system_clock::time_point now) {
  const auto since = std::chrono::nanoseconds(now.time_since_epoch()).count();
  std::string name = cat(of, ".", hex(static_cast<std::uint64_t>(since)));
  return is_dns_subdomain(name) ? name : uuid_of(name);
}

}  // namespace mnet::kube
