// Looks for single values inside a document, where reading all its Fields is not worth the trouble.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"

namespace mnet::json {

// The value that find() returned, as this type; nullptr if there is none or its type differs.
inline const bool* as_bool(const Value* found) {
  return found == nullptr ? nullptr : found->as_bool();
}
inline const std::string* as_string(const Value* found) {
  return found == nullptr ? nullptr : found->as_string();
}
inline const Array* as_array(const Value* found) {
  return found == nullptr ? nullptr : found->as_array();
}
inline const Object* as_object(const Value* found) {
  return found == nullptr ? nullptr : found->as_object();
}

inline bool is_true(const Value* found) {
  const bool* flag = as_bool(found);
  return flag != nullptr && *flag;
}

// The elements of a list; none if there is none.
inline std::span<const Value> elements_of(const Value* found) {
  const Array* list = as_array(found);
  return list == nullptr ? std::span<const Value>() : std::span<const Value>(*list);
}
// Those of them that are objects.
inline std::vector<const Object*> objects_of(const Value* found) {
  std::vector<const Object*> objects;
  for (const Value& element : elements_of(found)) {
    if (const Object* object = element.as_object()) objects.push_back(object);
  }
  return objects;
}
// The first element; nullptr if there is none, or if it is not an object.
inline const Object* first_object_of(const Value* found) {
  const auto elements = elements_of(found);
  return elements.empty() ? nullptr : elements.front().as_object();
}

// Its text; empty if there is none.
inline std::string text_of(const Value* found) {
  const std::string* text = as_string(found);
  return text == nullptr ? std::string() : *text;
}

// Its whole number; 0 if there is none.
inline std::int64_t number_of(const Value* found) {
  const Number* number = found == nullptr ? nullptr : found->as_number();
  return number == nullptr ? 0 : number->as_int64().value_or(0);
}

// The value at the end of a path of keys; nullptr if there is none.
inline const Value* find_at(const Object& object, std::initializer_list<std::string_view> keys) {
  const Object* inside = &object;
  const Value* found = nullptr;
  for (const std::string_view key : keys) {
    found = inside == nullptr ? nullptr : inside->find(key);
    inside = as_object(found);
  }
  return found;
}

// The text there; empty if there is none.
inline std::string text_at(const Object& object, std::initializer_list<std::string_view> keys) {
  return text_of(find_at(object, keys));
}

// The whole number there; 0 if there is none.
inline std::int64_t number_at(const Object& object, std::initializer_list<std::string_view> keys) {
  return number_of(find_at(object, keys));
}

}  // namespace mnet::json
