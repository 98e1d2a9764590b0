#include "group.h"

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "json/json.h"

namespace mnet::vectors {
namespace {

// kBug: never an answer of the code under test.
Error broken(std::string_view key, std::string_view why) {
  return Error(Errc::kBug, cat("broken case: input.", key, " ", why));
}

}  // namespace

Result<json::Value> value_of(const json::Object& input, std::string_view key) {
  const json::Value* value = input.find(key);
  if (value == nullptr) return broken(key, "is missing");
  return *value;
}

Result<std::string> text_of(const json::Object& input, std::string_view key) {
  const json::Value* value = input.find(key);
  if (value == nullptr || value->as_string() == nullptr) return broken(key, "is not a text");
  return *value->as_string();
}

Result<json::Object> object_of(const json::Object& input, std::string_view key) {
  const json::Value* value = input.find(key);
  if (value == nullptr || value->as_object() == nullptr) return broken(key, "is not an object");
  return *value->as_object();
}

Result<json::Array> array_of(const json::Object& input, std::string_view key) {
  const json::Value* value = input.find(key);
  if (value == nullptr || value->as_array() == nullptr) return broken(key, "is not a list");
  return *value->as_array();
}

}  // namespace mnet::vectors
