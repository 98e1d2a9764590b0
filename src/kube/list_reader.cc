#include "kube/list_reader.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/try.h"
#include "json/fields.h"
#include "json/json.h"

namespace mnet::kube {
namespace {

constexpr std::size_t kMaxOuter = 1u << 20;
constexpr int kItemsDepth = 2;  // inside `{"items":[`

bool is_blank(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

Error broken() { return Error(Errc::kProtocol, "the list is not valid JSON"); }

}  // namespace

Result<void> ListReader::put(std::string_view bytes) {
  for (const char byte : bytes) {
    if (!in_items_) {
      MNET_TRY_VOID(outside(byte));
    } else if (depth_ == kItemsDepth && !in_string_) {
      MNET_TRY_VOID(between_items(byte));
    } else {
      inside_item(byte);
    }
  }
  return {};
}

// Keeps track of strings and depth.
void ListReader::count(char byte) {
  if (in_string_) {
    if (is_escaped_) {
      is_escaped_ = false;
    } else if (byte == '\\') {
      is_escaped_ = true;
    } else if (byte == '"') {
      in_string_ = false;
    }
    return;
  }
  if (byte == '"') in_string_ = true;
  if (byte == '{' || byte == '[') ++depth_;
  if (byte == '}' || byte == ']') --depth_;
}

void ListReader::note_string(char byte) {
  if (depth_ != 1) return;
  if (in_string_) {
    if (last_string_.size() < 16) last_string_ += byte;
    return;
  }
  if (byte == '"') last_string_.clear();
  if (byte == ':') after_items_key_ = last_string_ == "items\"";
}

Result<void> ListReader::outside(char byte) {
  if (outer_.size() >= kMaxOuter) return Error(Errc::kProtocol, "the list's metadata is too large");
  outer_ += byte;
  note_string(byte);
  const bool begins_items = !in_string_ && depth_ == 1 && after_items_key_ && byte == '[';
  const bool is_a_value = !in_string_ && !is_blank(byte) && byte != ':';
  count(byte);
  if (depth_ < 0) return broken();
  if (begins_items) in_items_ = has_items_ = true;
  if (is_a_value) after_items_key_ = false;
  return {};
}

Result<void> ListReader::between_items(char byte) {
  if (is_blank(byte) || byte == ',') return {};
  if (byte == ']') {
    count(byte);
    outer_ += byte;
    in_items_ = false;
    return {};
  }
  if (byte != '{') return broken();
  count(byte);
  item_.assign(1, byte);
  is_too_large_ = false;
  return {};
}

void ListReader::inside_item(char byte) {
  count(byte);
  if (item_.size() >= max_item_) {
    is_too_large_ = true;
    item_ = {};
  }
  if (!is_too_large_) item_ += byte;
  if (depth_ != kItemsDepth || in_string_) return;
  if (is_too_large_) {
    ++skipped_;
  } else {
    items_.push_back(std::exchange(item_, {}));
  }
}

std::optional<std::string> ListReader::next_item() {
  if (items_.empty()) return std::nullopt;
  std::string item = std::move(items_.front());
  items_.pop_front();
  return item;
}

Result<ListEnd> ListReader::finish() const {
  if (in_items_ || depth_ != 0) return Error(Errc::kProtocol, "the list is truncated");
  auto document = json::parse_object(outer_, 100);
  if (!document) return broken();
  ListEnd out;
  json::Fields fields(*document, "", json::Match::kExact);
  fields.object("metadata", [&out](const json::Object& metadata, const std::string& path) {
    json::Fields inner(metadata, path, json::Match::kExact);
    inner.read("resourceVersion", out.resource_version);
    inner.read("continue", out.continuation);
    return inner.done();
  });
  MNET_TRY_VOID(fields.done());
  if (out.resource_version.empty() && !has_items_) {
    return Error(Errc::kProtocol, "the answer is not a list: neither items nor resourceVersion");
  }
  return out;
}

}  // namespace mnet::kube
