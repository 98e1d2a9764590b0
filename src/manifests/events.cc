#include "manifests/events.h"

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/dns_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/random_number.h"
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

// Version 4, variant 1 (RFC 4122).
std::string random_uuid() {
  const auto group = [](std::size_t width) {
    return hex(random_number() | 1ull << 63).substr(1, width);
  };
  return cat(group(8), "-", group(4), "-4", group(3), "-", "89ab"[random_number() % 4], group(3),
             "-", group(12));
}

std::string name_of(const std::string& pod, std::chrono::system_clock::time_point time) {
  const auto since = time.time_since_epoch();
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
  std::string name = cat(pod, ".", hex(static_cast<std::uint64_t>(nanoseconds)));
  return is_dns_subdomain(name) ? name : random_uuid();
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
  const Seen& seen = see(event);
  const json::Object object{
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata", json::Object{{"namespace", event.pod.ns}, {"name", seen.name}}},
      {"involvedObject", reference_to(event.pod)},
      {"reason", event.reason},
      {"message", event.message},
      {"source", json::Object{{"component", "multus"}}},
      {"firstTimestamp", seen.first_time},
      {"lastTimestamp", rfc3339_utc(clock_->now())},
      {"count", seen.count},
      {"type", event.type},
      {"reportingComponent", "multus"}};
  auto written = write(cat(json::dump(object), "\n"));
  if (!written) return report(event, written.error());
  reported_ = false;
}

const EventFile::Seen& EventFile::see(const Event& event) {
  std::string key = sha256_hex(cat(event.pod.ns, "/", event.pod.name, "/", event.pod.uid, "/",
                                   event.type, "/", event.reason, "/", event.message));
  // All at once is simple, and costs a few repeats their count.
  if (seen_.size() >= kMostRemembered && !seen_.contains(key)) seen_.clear();
  Seen& seen = seen_[std::move(key)];
  if (seen.count == 0) {
    seen.name = name_of(event.pod.name, clock_->now());
    seen.first_time = rfc3339_utc(clock_->now());
  }
  ++seen.count;
  return seen;
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
