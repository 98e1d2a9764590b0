#include "kube/watch_event.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/at.h"
#include "json/json.h"

namespace mnet::kube {
namespace {

std::optional<EventType> type_of(std::string_view text) {
  if (text == "ADDED") return EventType::kAdded;
  if (text == "MODIFIED") return EventType::kModified;
  if (text == "DELETED") return EventType::kDeleted;
  if (text == "BOOKMARK") return EventType::kBookmark;
  if (text == "ERROR") return EventType::kError;
  return std::nullopt;
}

}  // namespace

Result<WatchEvent> parse_watch_event(std::string_view line,
                                     std::span<const std::string_view> unused) {
  MNET_TRY(auto&& document, json::parse_object_without(unused, line));
  const std::string name = json::text_at(document, {"type"});
  if (name.empty()) return Error(Errc::kProtocol, "the watch event has no type");
  const auto type = type_of(name);
  if (!type) return Error(Errc::kNotFound, "watch event of an unknown type");
  json::Value* object = document.find("object");
  if (object == nullptr || object->as_object() == nullptr) {
    return Error(Errc::kProtocol, "the watch event has no object");
  }
  return WatchEvent{.type = *type, .object = std::move(*object->as_object())};
}

void LineSplitter::put(std::string_view bytes) {
  if (is_discarding_) {
    const auto end = bytes.find('\n');
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    is_discarding_ = false;
  }
  pending_ += bytes;
}

std::optional<LineSplitter::Line> LineSplitter::next() {
  for (;;) {
    const auto end = pending_.find('\n');
    if (end == std::string::npos) {
      if (pending_.size() <= max_line_) return std::nullopt;
      pending_ = {};
      is_discarding_ = true;
      return Line{.is_too_long = true};
    }
    // The rest is the smaller part as a rule: an event may have a megabyte, and is not copied.
    std::string rest = pending_.substr(end + 1);
    pending_.resize(end);
    Line line{.text = std::exchange(pending_, std::move(rest))};
    if (line.text.size() > max_line_) return Line{.is_too_long = true};
    if (!trim(line.text).empty()) return line;
  }
}

}  // namespace mnet::kube
