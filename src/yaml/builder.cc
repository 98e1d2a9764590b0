#include "yaml/builder.h"

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/emitterstyle.h>
#include <yaml-cpp/mark.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "json/json.h"
#include "yaml/scalar.h"
#include "yaml/yaml.h"

namespace mnet::yaml {
namespace {

bool is_plain(const std::string& tag) { return tag == "?" || tag.empty(); }

// yaml-cpp tells plain scalars ("?") from quoted and literal ones ("!"); only plain ones have a
// type. None: a tag that kubectl does not know either, or a text that is not what its tag says.
std::optional<json::Value> scalar_of(const std::string& tag, const std::string& text) {
  if (tag == "!" || tag == "tag:yaml.org,2002:str") return json::Value(text);
  if (tag == "tag:yaml.org,2002:binary") {
    std::string packed = text, bytes;
    std::erase_if(packed, [](char c) { return c == ' ' || c == '\t'; });
    return from_base64(packed, bytes) ? std::optional(json::Value(bytes)) : std::nullopt;
  }
  for (const std::string_view typed : {"?", "", "tag:yaml.org,2002:int", "tag:yaml.org,2002:float",
                                       "tag:yaml.org,2002:bool", "tag:yaml.org,2002:null"}) {
    if (tag == typed) return value_of_plain(text);
  }
  return std::nullopt;
}

// A scalar as a key: the text of its value.
std::string key_text(const json::Value& value) {
  const std::string* text = value.as_string();
  return text != nullptr ? *text : json::dump(value);
}

}  // namespace

Error error_at(const YAML::Mark& mark, std::string_view why) {
  return Error(Errc::kInvalid,
               cat("line ", mark.line + 1, ", column ", mark.column + 1, ": ", why));
}

Result<std::vector<Document>> Builder::take() {
  if (error_) return *std::move(error_);
  return std::move(documents_);
}

void Builder::OnDocumentStart(const YAML::Mark& mark) {
  // yaml-cpp 0.7 makes empty documents without end from a text that cannot begin one, such as a
  // lone comma.
  if (mark.pos == last_start_) return fail(mark, "unexpected character");
  last_start_ = mark.pos;
  ++number_;
  nodes_ = 0;
  bytes_ = 0;
  open_.clear();
  anchors_.clear();
}

void Builder::OnDocumentEnd() {}

void Builder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  Node null;
  null.scalar = "null";
  if (admit(mark, null)) put(mark, null, anchor);
}

void Builder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       const std::string& value) {
  if (is_plain(tag) && is_not_finite(value))
    return fail(mark, cat(excerpt(value), " is not a JSON number"));
  auto scalar = scalar_of(tag, value);
  if (!scalar) return fail(mark, cat("cannot use a value with the tag ", excerpt(tag)));
  Node node;
  node.value = *std::move(scalar);
  node.scalar = key_text(node.value);
  node.is_merge = is_plain(tag) && value == "<<";
  node.bytes = value.size();
  if (admit(mark, node)) put(mark, std::move(node), anchor);
}

void Builder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const auto named = anchors_.find(anchor);
  if (named == anchors_.end()) return fail(mark, "an alias inside its own anchor");
  if (admit(mark, named->second)) put(mark, named->second, 0);
}

void Builder::OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                              YAML::EmitterStyle::value) {
  open(mark, json::Array(), anchor);
}

void Builder::OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) {
  open(mark, json::Object(), anchor);
}

void Builder::OnSequenceEnd() { close(); }
void Builder::OnMapEnd() { close(); }

void Builder::open(const YAML::Mark& mark, json::Value empty, YAML::anchor_t anchor) {
  Open opened;
  opened.node.value = std::move(empty);
  opened.mark = mark;
  opened.anchor = anchor;
  if (!admit(mark, opened.node)) return;
  if (!open_.empty() && open_.back().node.value.as_object() != nullptr && !open_.back().key) {
    return fail(mark, "a key must be a scalar");
  }
  open_.push_back(std::move(opened));
}

void Builder::close() {
  if (error_) return;
  Open closed = std::move(open_.back());
  open_.pop_back();
  merge(closed);
  put(closed.mark, std::move(closed.node), closed.anchor);
}

void Builder::put(const YAML::Mark& mark, Node node, YAML::anchor_t anchor) {
  if (anchor != 0) {
    if (!admit(mark, node)) return;  // the copy counts too: anchors may be nested
    anchors_.insert_or_assign(anchor, node);
  }
  if (!open_.empty()) return put_into(open_.back(), mark, std::move(node));
  if (node.value.is_null()) return;  // an empty document
  documents_.push_back({std::move(node.value), mark.line + 1, number_});
}

void Builder::put_into(Open& parent, const YAML::Mark& mark, Node node) {
  json::Object* object = parent.node.value.as_object();
  if (object != nullptr && !parent.key) return take_key(parent, mark, std::move(node));
  parent.node.count += node.count;
  parent.node.bytes += node.bytes;
  parent.node.height = std::max(parent.node.height, node.height + 1);
  if (object == nullptr) {
    parent.node.value.as_array()->push_back(std::move(node.value));
  } else if (std::exchange(parent.is_merging, false)) {
    parent.key.reset();
    take_merged(parent, mark, std::move(node));
  } else {
    object->append(std::exchange(parent.key, std::nullopt).value_or(""), std::move(node.value));
  }
}

void Builder::take_key(Open& parent, const YAML::Mark& mark, Node node) {
  if (!node.scalar) return fail(mark, "a key must be a scalar");
  parent.is_merging = node.is_merge;
  if (!node.is_merge && !parent.keys.insert(*node.scalar).second) {
    const Error where = error_at(mark, cat("key ", go_quoted(*node.scalar), " occurs twice"));
    if (!error_) error_ = Error(Errc::kConflict, where.text());
    return;
  }
  parent.node.bytes += node.bytes;
  parent.key = std::move(node.scalar);
}

void Builder::take_merged(Open& parent, const YAML::Mark& mark, Node node) {
  json::Array several;
  if (json::Array* list = node.value.as_array()) {
    several = std::move(*list);
  } else {
    several.push_back(std::move(node.value));
  }
  for (json::Value& value : several) {
    if (value.as_object() == nullptr) return fail(mark, "only mappings can be merged");
    parent.merged.push_back(std::move(value));
  }
}

// The mapping's own members win, then those of the first merged mapping.
void Builder::merge(Open& mapping) {
  for (json::Value& source : mapping.merged) {
    for (auto& [key, value] : *source.as_object()) {
      if (!mapping.keys.insert(key).second) continue;
      mapping.node.value.as_object()->append(key, std::move(value));
    }
  }
}

bool Builder::admit(const YAML::Mark& mark, const Node& node) {
  const std::size_t depth = open_.size() + static_cast<std::size_t>(node.height);
  if (depth > static_cast<std::size_t>(limits_.depth)) fail(mark, "nested too deeply");
  nodes_ += node.count;
  bytes_ += node.bytes;
  if (nodes_ > limits_.nodes) fail(mark, cat("more than ", limits_.nodes, " nodes"));
  if (bytes_ > limits_.expanded) fail(mark, cat("more than ", limits_.expanded, " bytes"));
  return may_go_on();
}

void Builder::fail(const YAML::Mark& mark, std::string_view why) {
  if (!error_) error_ = error_at(mark, why);
}

}  // namespace mnet::yaml
