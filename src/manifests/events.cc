#include "manifests/events.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/dns_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "manifests/objects.h"
#include "sys/append_file.h"

namespace mnet::manifests {
namespace {

constexpr std::size_t kMostRemembered = 1000;

std::string hex(std::uint64_t number) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, number, 16).ptr;
  return {digits, end};
}

// In the form of version 4, variant 1 (RFC 4122): the same one for the same text.
std::string uuid_of(std::string_view text) {
  const std::string digits = sha256_hex(text);
  return cat(digits.substr(0, 8), "-", digits.substr(8, 4), "-4", digits.substr(12, 3), "-a",
             digits.substr(15, 3), "-", digits.substr(18, 12));
}

// The same whenever the event is repeated.
std::string name_of(const std::string& pod, const Sha256::Digest& event,
                    std::chrono::system_clock::time_point first) {
  const auto since = first.time_since_epoch();
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
  std::string name = cat(pod, ".", hex(static_cast<std::uint64_t>(nanoseconds)));
  return is_dns_subdomain(name) ? name : uuid_of(cat(name, event[0], event[1]));
}

json::Object reference_to(const PodRef& pod) {
  json::Object object{
      {"kind", "Pod"}, {"apiVersion", "v1"}, {"namespace", pod.ns}, {"name", pod.name}};
  if (!pod.uid.empty()) object.set("uid", pod.uid);
  if (!pod.resource_version.empty()) object.set("resourceVersion", pod.resource_version);
  return object;
}

}  // namespace

EventFile::EventFile(const std::string& folder, Log log, const WallClock* clock,
                     std::size_t max_bytes)
    : path_(cat(clean_path(folder), "/events.jsonl")),
      log_(std::move(log)),
      clock_(clock),
      max_bytes_(max_bytes) {}

void EventFile::append(const Event& event) {
  const Seen seen = see(event);
  const json::Object object{
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata", json::Object{{"namespace", event.pod.ns},
                                {"name", name_of(event.pod.name, seen.event, seen.first)}}},
      {"involvedObject", reference_to(event.pod)},
      {"reason", event.reason},
      {"message", event.message},
      {"source", json::Object{{"component", "multus"}}},
      {"firstTimestamp", rfc3339_utc(seen.first)},
      {"lastTimestamp", rfc3339_utc(clock_->now())},
      {"count", seen.count},
      {"type", event.type},
      {"reportingComponent", "multus"}};
  auto written = write(cat(json::dump(object), "\n"));
  if (!written) return report(event, written.error());
  reported_ = false;
}

EventFile::Seen EventFile::see(const Event& event) {
  const Sha256::Digest hash = sha256(cat(event.pod.ns, "/", event.pod.name, "/", event.pod.uid, "/",
                                         event.type, "/", event.reason, "/", event.message));
  const auto known = std::ranges::find(seen_, hash, &Seen::event);
  if (known != seen_.end()) {
    ++known->count;
    return *known;
  }
  // All at once is simple, and costs a few repeats their count.
  if (seen_.size() >= kMostRemembered) seen_.clear();
  return seen_.emplace_back(Seen{.event = hash, .first = clock_->now(), .count = 1});
}

Result<void> EventFile::write(const std::string& line) {
  auto size = file_ != nullptr ? file_->size() : std::nullopt;
  if (!size) {
    file_.reset();
    MNET_TRY(auto&& file, sys::AppendFile::open(path_, 0644));
    file_ = std::make_unique<sys::AppendFile>(std::move(file));
    size = file_->size();
  }
  if (size.value_or(0) > 0 && size.value_or(0) + line.size() > max_bytes_) {
    MNET_TRY_VOID(file_->put_aside(cat(path_, ".1")));
  }
  return file_->append(line);
}

void EventFile::report(const Event& event, const Error& why) {
  if (!std::exchange(reported_, true)) log_.error("events are only logged", why);
  log_.with_request(event.request_id)
      .verbose(cat("event of pod ", event.pod.ns, "/", event.pod.name, ": ", event.type, " ",
                   event.reason, " ", event.message));
}

}  // namespace mnet::manifests
