// The text of a watch: one JSON object per line, each an event. Lines come in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json.h"

namespace mnet::kube {

inline constexpr std::size_t kMaxFrame = 8u << 20;  // 03, 5.4

enum class EventType : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };

struct WatchEvent {
  EventType type = EventType::kError;
  json::Object object = {};
};
// kNotFound: its type is unknown. `unused`: names of members that are left out.
Result<WatchEvent> parse_watch_event(std::string_view line,
                                     std::span<const std::string_view> unused = {});

// Puts lines together. Keeps one line at a time, and of one that is too long nothing.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t max_line = kMaxFrame) : max_line_(max_line) {}

  struct Line {
    bool is_too_long = false;  // then `text` is empty
    std::string text = {};
  };

  void put(std::string_view bytes);
  // The next whole line, without its newline; empty lines are left out. Call it until it returns
  // none, then put() more.
  std::optional<Line> next();
  // Whether a part of a line has come.
  bool is_inside() const { return !pending_.empty() || is_discarding_; }

 private:
  std::size_t max_line_;
  std::string pending_;
  bool is_discarding_ = false;
};

}  // namespace mnet::kube
