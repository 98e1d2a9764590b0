#include "kube/definitions.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/count.h"
#include "json/json.h"
#include "kube/objects.h"
#include "kube/watch_event.h"
#include "model/objects.h"

namespace mnet::kube {
namespace {

// A resource has a domain and a name; a plugin's type is the name of a file, and most
// chains have two or three.
constexpr std::size_t kMaxResourceName = 253 + 1 + 63;
constexpr std::size_t kMaxTypesBytes = 255, kMaxTypes = 8;
// What a text costs besides its bytes: nodes of list and map, and the definition's names.
constexpr std::size_t kTextOverhead = 512;

std::string key_of(std::string_view ns, std::string_view name) { return cat(ns, "/", name); }

std::size_t cost_of(const model::NetworkDefinition& whole) {
  return kTextOverhead + whole.resource_name.size() + (whole.config ? whole.config->size() : 0);
}

// The strings of a JSON text, one after another, without building what it says: a megabyte of
// `[0,0,...` would take twenty. For information only; escapes stay as they are.
class Strings {
 public:
  explicit Strings(std::string_view text) : rest_(text) {}

  // False at the end.
  bool next() {
    const auto begin = rest_.find('"');
    if (begin == std::string_view::npos) return false;
    rest_.remove_prefix(begin + 1);
    std::size_t end = 0;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
    if (end >= rest_.size()) return false;
    string_ = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }
  std::string_view string() const { return string_; }
  // Whether the last string is a key, and its value a string.
  bool names_a_string() const {
    std::string_view rest = trim_left(rest_);
    if (!rest.starts_with(':')) return false;
    return trim_left(rest.substr(1)).starts_with('"');
  }

 private:
  static std::string_view trim_left(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  }

  std::string_view rest_, string_;
};

std::vector<std::string> types_in(std::string_view config) {
  std::vector<std::string> types;
  std::size_t left = kMaxTypesBytes;
  Strings strings(config);
  while (strings.next()) {
    if (strings.string() != "type" || !strings.names_a_string() || !strings.next()) continue;
    if (strings.string().size() >= left || types.size() == kMaxTypes) break;
    if (strings.string().empty() || std::ranges::find(types, strings.string()) != types.end())
      continue;
    types.emplace_back(strings.string());
    left -= strings.string().size() + 1;
  }
  return types;
}

Definitions::Summary summary_of(const model::NetworkDefinition& whole) {
  Definitions::Summary summary{.resource_version = whole.resource_version};
  if (whole.config) {
    summary.size = whole.config->size();
    summary.count = json::count(*whole.config);
    summary.plugin_types = types_in(*whole.config);
  }
  if (whole.resource_name.size() <= kMaxResourceName) summary.resource_name = whole.resource_name;
  return summary;
}

}  // namespace

const Definitions::Summary* Definitions::find(std::string_view ns, std::string_view name) const {
  const auto found = summaries_.find(key_of(ns, name));
  return found == summaries_.end() ? nullptr : &found->second;
}

model::NetworkDefinitionPtr Definitions::use(std::string_view ns, std::string_view name) {
  const std::string key = key_of(ns, name);
  const auto place = places_.find(key);
  // A list that is being read may have brought a text before the definition is known.
  if (place == places_.end() || !summaries_.contains(key)) return nullptr;
  Text& text = *place->second;
  used_.splice(used_.begin(), texts_of(text.is_used), place->second);
  text.is_used = true;
  return text.whole;
}

void Definitions::keep(const model::NetworkDefinitionPtr& read) {
  const Summary* known = find(read->ns, read->name);
  if (known == nullptr || known->resource_version != read->resource_version) return;
  put_text(read, true);
}

void Definitions::begin() {
  next_.clear();
  drop_unknown_texts();  // of a list that was given up
}

void Definitions::commit() {
  const Summaries before = std::exchange(summaries_, std::exchange(next_, {}));
  drop_unknown_texts();
  for (const auto& [key, summary] : summaries_) tell(before, key);
}

void Definitions::tell(const Summaries& before, const std::string& key) const {
  if (!observer_) return;
  const auto found = before.find(key);
  const bool is_known = found != before.end() &&
                        found->second.resource_version == summaries_.at(key).resource_version;
  if (!is_known) observer_(key);
}

Result<void> Definitions::change(EventType type, const json::Object& object) {
  MNET_TRY(auto&& meta, parse_meta(object));
  if (type != EventType::kDeleted) {
    MNET_TRY_VOID(put(summaries_, object));
    if (observer_) observer_(meta.key());
    return {};
  }
  summaries_.erase(meta.key());
  drop_text(meta.key());
  return {};
}

Result<void> Definitions::put(Summaries& summaries, const json::Object& object) {
  MNET_TRY(auto&& parsed, parse_network(object));
  const std::string key = parsed.key();
  summaries[key] = summary_of(parsed);
  const auto place = places_.find(key);
  const bool is_used = place != places_.end() && place->second->is_used;
  // Free before another is made: it may be as large.
  drop_text(key);
  put_text(std::make_shared<const model::NetworkDefinition>(std::move(parsed)), is_used);
  return {};
}

void Definitions::put_text(model::NetworkDefinitionPtr whole, bool is_used) {
  const std::string key = whole->key();
  drop_text(key);
  text_bytes_ += cost_of(*whole);
  Texts& texts = texts_of(is_used);
  texts.push_front({.whole = std::move(whole), .is_used = is_used});
  places_[key] = texts.begin();
  while (text_bytes_ > max_text_bytes_) {
    Texts& from = texts_of(unused_.empty());
    drop_text(from, std::prev(from.end()));
    ++evictions_;
  }
}

void Definitions::drop_text(const std::string& key) {
  const auto place = places_.find(key);
  if (place != places_.end()) drop_text(texts_of(place->second->is_used), place->second);
}

void Definitions::drop_text(Texts& texts, Texts::iterator text) {
  text_bytes_ -= cost_of(*text->whole);
  places_.erase(text->whole->key());
  texts.erase(text);
}

void Definitions::drop_unknown_texts() {
  std::vector<std::string> unknown;
  for (const auto& [key, text] : places_) {
    if (!summaries_.contains(key)) unknown.push_back(key);
  }
  for (const std::string& key : unknown) drop_text(key);
}

}  // namespace mnet::kube
