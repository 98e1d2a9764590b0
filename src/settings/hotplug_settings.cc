#include "settings/hotplug_settings.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/duration.h"
#include "base/result.h"
#include "base/text.h"
#include "json/fields.h"
#include "json/json.h"
#include "model/hotplug_settings.h"
#include "settings/daemon_keys.h"

namespace mnet::settings {
namespace {

using Time = std::chrono::milliseconds;

constexpr std::int64_t kMostWorkers = 64;
// The clock's arithmetic stays sound, whatever a configuration says.
constexpr Time kLongest = std::chrono::hours(24 * 365);

void read_time(json::Fields& fields, std::string_view key, Time least, Time& out) {
  std::optional<std::string> text;
  fields.read(key, text);
  if (!text) return;
  const auto read = parse_go_duration(*text);
  if (!read) return fields.fail(key, read.error().text());
  const auto rounded = std::chrono::round<Time>(*read);
  if (rounded < least) return fields.fail(key, cat("too short: ", go_quoted(*text)));
  out = std::min(rounded, kLongest);
}

void warn_of_unknown(const json::Object& object, std::vector<std::string>& warnings) {
  for (const auto& [key, value] : object) {
    const bool is_known = std::ranges::any_of(
        daemon_members("hotplug"),
        [&key](std::string_view member) { return json::is_spelling_of(key, member); });
    if (!is_known)
      warnings.push_back(cat("hotplug: unknown member ", go_quoted(key), " has no effect"));
  }
}

Result<void> read_members(const json::Object& object, std::string path,
                          model::HotplugSettings& out) {
  json::Fields fields(object, std::move(path));
  out.is_enabled = true;
  fields.read("enabled", out.is_enabled);
  auto workers = static_cast<std::int64_t>(out.workers);
  fields.read("workers", workers);
  if (workers < 1 || workers > kMostWorkers) {
    fields.fail("workers", cat("must be from 1 to ", kMostWorkers, ", got ", workers));
  }
  out.workers = static_cast<std::size_t>(workers);
  read_time(fields, "retryInitial", Time(1), out.retry_initial);
  read_time(fields, "retryMax", Time(1), out.retry_max);
  read_time(fields, "resync", Time(0), out.resync);
  fields.read("namespaces", out.namespaces);
  std::string on_change = "ignore";
  fields.read("onAttributeChange", on_change);
  if (on_change != "ignore" && on_change != "replace") {
    fields.fail("onAttributeChange", cat("must be ignore or replace, not ", go_quoted(on_change)));
  }
  out.replaces_on_change = on_change == "replace";
  return fields.done();
}

}  // namespace

void read_hotplug(json::Fields& fields, model::HotplugSettings& out,
                  std::vector<std::string>& warnings) {
  const json::Value* value = fields.find("hotplug");
  if (value == nullptr) return;
  if (value->as_object() == nullptr) return fields.read("hotplug", out.is_enabled);
  warn_of_unknown(*value->as_object(), warnings);
  fields.object("hotplug", [&out](const json::Object& object, std::string path) {
    return read_members(object, std::move(path), out);
  });
}

}  // namespace mnet::settings
