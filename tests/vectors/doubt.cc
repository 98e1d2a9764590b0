#include "doubt.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/json.h"

namespace mnet::vectors {
namespace {

std::vector<json::Value> falsified_value(const json::Value& value) {
  if (const json::Object* object = value.as_object()) {
    const std::vector<json::Object> objects = falsified(*object);
    return {objects.begin(), objects.end()};
  }
  if (const bool* flag = value.as_bool()) return {!*flag};
  if (const json::Number* number = value.as_number()) {
    const std::int64_t real = number->as_int64().value_or(0);
    return {json::Number(real > 0 ? real - 1 : real + 1)};
  }
  if (const std::string* text = value.as_string()) return {cat(*text, kInNoText)};
  const json::Array* items = value.as_array();
  if (items == nullptr) return {kInNoText};

  std::vector<json::Value> out;
  for (std::size_t i = 0; i < items->size(); ++i) {
    for (json::Value& other : falsified_value((*items)[i])) {
      json::Array changed = *items;
      changed[i] = std::move(other);
      out.emplace_back(std::move(changed));
    }
  }
  json::Array longer = *items;
  longer.emplace_back(kInNoText);
  out.emplace_back(std::move(longer));
  return out;
}

}  // namespace

std::vector<json::Object> falsified(const json::Object& expect) {
  std::vector<json::Object> out;
  for (const auto& [key, value] : expect) {
    for (json::Value& other : falsified_value(value)) {
      json::Object changed = expect;
      changed.set(key, std::move(other));
      out.push_back(std::move(changed));
    }
  }
  json::Object larger = expect;
  larger.set(std::string(kInNoText), nullptr);
  out.push_back(std::move(larger));
  return out;
}

}  // namespace mnet::vectors
