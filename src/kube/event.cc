#include "kube/event.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/dns_name.h"
#include "base/random_number.h"
#include "base/text.h"
#include "json/json.h"

namespace mnet::kube {
namespace {

std::string hex(std::uint64_t number) {
  std::array<char, 16> digits{};
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return std::string(digits.data(), end);
}

// Of the fourth version.
std::string new_uuid() {
  const std::uint64_t high = random_number(), low = random_number();
  const auto digits = [](std::uint64_t number, std::size_t count) {
    const std::string text = hex(number);
    return std::string(count - std::min(count, text.size()), '0') +
           text.substr(text.size() - std::min(count, text.size()));
  };
  return cat(digits(high >> 32, 8), "-", digits(high >> 16, 4), "-4", digits(high, 3), "-8",
             digits(low >> 48, 3), "-", digits(low, 12));
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
  return is_dns_subdomain(name) ? name : new_uuid();
}

}  // namespace mnet::kube
