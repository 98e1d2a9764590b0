#include "compare.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "json/json.h"

namespace mnet::vectors {
namespace {

constexpr std::string_view kContains = "_contains";

std::string unequal(std::string_view path, std::string_view expected, std::string_view actual) {
  return cat(path, ": expected ", expected, ", got ", actual);
}

std::string below(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : cat(path, ".", key);
}

bool is_partial(std::string_view key) { return key == "fields" || key == "delegate"; }

std::optional<std::string> lacks_text(const json::Value& fragment, const json::Value* actual,
                                      std::string_view path) {
  const std::string* wanted = fragment.as_string();
  const std::string* text = actual == nullptr ? nullptr : actual->as_string();
  if (wanted == nullptr) return cat(path, ": the fragment is not a text");
  if (text != nullptr && text->find(*wanted) != std::string::npos) return std::nullopt;
  return unequal(path, cat("text with ", go_quoted(*wanted)),
                 actual == nullptr ? "nothing" : json::dump(*actual));
}

std::optional<std::string> member_difference(const json::Member& expected,
                                             const json::Object& actual, std::string_view path);

// The first listed member that is not as expected.
std::optional<std::string> listed_difference(const json::Object& expected,
                                             const json::Object& actual, std::string_view path) {
  for (const json::Member& member : expected) {
    if (auto found = member_difference(member, actual, path)) return found;
  }
  return std::nullopt;
}

std::optional<std::string> member_difference(const json::Member& expected,
                                             const json::Object& actual, std::string_view path) {
  const auto& [key, value] = expected;
  if (key.ends_with(kContains)) {
    const std::string_view base = std::string_view(key).substr(0, key.size() - kContains.size());
    return lacks_text(value, actual.find(base), below(path, base));
  }
  const json::Value* found = actual.find(key);
  if (found == nullptr) return unequal(below(path, key), json::dump(value), "nothing");
  if (is_partial(key) && value.as_object() != nullptr && found->as_object() != nullptr) {
    return listed_difference(*value.as_object(), *found->as_object(), below(path, key));
  }
  return difference(value, *found, below(path, key));
}

std::optional<std::string> object_difference(const json::Object& expected,
                                             const json::Object& actual, std::string_view path) {
  if (auto found = listed_difference(expected, actual, path)) return found;
  for (const auto& [key, value] : actual) {
    if (expected.find(key) == nullptr && expected.find(cat(key, kContains)) == nullptr) {
      return unequal(below(path, key), "nothing", json::dump(value));
    }
  }
  return std::nullopt;
}

std::optional<std::string> list_difference(const json::Array& expected, const json::Array& actual,
                                           std::string_view path) {
  const std::size_t both = std::min(expected.size(), actual.size());
  for (std::size_t i = 0; i < both; ++i) {
    if (auto found = difference(expected[i], actual[i], cat(path, "[", i, "]"))) return found;
  }
  if (expected.size() == actual.size()) return std::nullopt;
  return unequal(path, cat(expected.size(), " elements"), cat(actual.size()));
}

}  // namespace

std::optional<std::string> difference(const json::Value& expected, const json::Value& actual,
                                      std::string_view path) {
  if (expected.as_object() != nullptr && actual.as_object() != nullptr) {
    return object_difference(*expected.as_object(), *actual.as_object(), path);
  }
  if (expected.as_array() != nullptr && actual.as_array() != nullptr) {
    return list_difference(*expected.as_array(), *actual.as_array(), path);
  }
  if (expected == actual) return std::nullopt;
  return unequal(path, json::dump(expected), json::dump(actual));
}

std::optional<std::string> differs_from(const json::Object& expect, const json::Object& outcome) {
  if (expect.empty()) return "the case expects nothing";
  return listed_difference(expect, outcome, "");
}

}  // namespace mnet::vectors
