// Compares what is requested of networks; absent equals empty (05, R3 and 3.6). Pure.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "json/json.h"

namespace mnet::hotplug {

inline bool is_nothing(const json::Value& value) {
  if (value.is_null()) return true;
  if (value.as_string() != nullptr) return value.as_string()->empty();
  if (value.as_array() != nullptr) return value.as_array()->empty();
  return value.as_object() != nullptr && value.as_object()->empty();
}

inline json::Value attribute_in(const json::Object& attributes, std::string_view key) {
  const json::Value* value = attributes.find(key);
  return value == nullptr || is_nothing(*value) ? json::Value() : *value;
}

// Whether the attributes of these names are equal.
inline bool equal_attributes(const json::Object& a, const json::Object& b,
                             std::span<const std::string_view> names) {
  return std::ranges::all_of(
      names, [&](std::string_view name) { return attribute_in(a, name) == attribute_in(b, name); });
}

}  // namespace mnet::hotplug
