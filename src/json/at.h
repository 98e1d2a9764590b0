// Looks for single values inside a document, where reading all its Fields is not worth the trouble.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "json/json.h"

namespace mnet::json {

// The value at the end of a path of keys; nullptr if there is none.
inline const Value* find_at(const Object& object, std::initializer_list<std::string_view> keys) {
  const Object* inside = &object;
  const Value* found = nullptr;
  for (const std::string_view key : keys) {
    found = inside == nullptr ? nullptr : inside->find(key);
    inside = found == nullptr ? nullptr : found->as_object();
  }
  return found;
}

// The text there; empty if there is none.
inline std::string text_at(const Object& object, std::initializer_list<std::string_view> keys) {
  const Value* found = find_at(object, keys);
  const std::string* text = found == nullptr ? nullptr : found->as_string();
  return text == nullptr ? std::string() : *text;
}

}  // namespace mnet::json
