#include "json/fields.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "json/json.h"

namespace mnet::json {

Error wrong_kind(std::string_view path, std::string_view wanted, const Value& got) {
  return Error(Errc::kInvalid, cat(path, ": expected ", wanted, ", got ", got.kind()));
}

std::string_view find_respelled(const Object& object, std::span<const std::string_view> keys) {
  for (const std::string_view key : keys) {
    const auto is_spelling = [key](const Member& member) {
      return is_spelling_of(member.first, key);
    };
    if (std::ranges::count_if(object, is_spelling) > 1) return key;
  }
  return {};
}

const Value* Fields::find(std::string_view key) const {
  const Value* value = match_ == Match::kFolded ? object_.find_folded(key) : object_.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::string Fields::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : cat(path_, ".", key);
}

void Fields::fail(std::string_view key, std::string_view why) {
  if (!error_) error_ = Error(Errc::kInvalid, cat(path_of(key), ": ", why));
}

void Fields::wrong_kind(std::string_view key, std::string_view wanted, const Value& got) {
  if (!error_) error_ = json::wrong_kind(path_of(key), wanted, got);
}

void Fields::read(std::string_view key, std::string& out) {
  const Value* value = find(key);
  if (value == nullptr) return;
  if (const std::string* text = value->as_string()) {
    out = *text;
  } else {
    wrong_kind(key, "a string", *value);
  }
}

void Fields::read(std::string_view key, bool& out) {
  const Value* value = find(key);
  if (value == nullptr) return;
  if (const bool* flag = value->as_bool()) {
    out = *flag;
  } else {
    wrong_kind(key, "a boolean", *value);
  }
}

template <typename T>
void Fields::read_integer(std::string_view key, std::string_view wanted,
                          std::optional<T> (Number::*as)() const, T& out) {
  const Value* value = find(key);
  if (value == nullptr) return;
  const Number* number = value->as_number();
  if (number == nullptr) {
    wrong_kind(key, "an integer", *value);
  } else if (const auto integer = (number->*as)()) {
    out = *integer;
  } else {
    fail(key, cat("expected ", wanted, ", got ", excerpt(number->text())));
  }
}

void Fields::read(std::string_view key, std::int64_t& out) {
  read_integer(key, "an integer", &Number::as_int64, out);
}

void Fields::read(std::string_view key, std::uint64_t& out) {
  read_integer(key, "an unsigned integer", &Number::as_uint64, out);
}

void Fields::read(std::string_view key, double& out) {
  const Value* value = find(key);
  if (value == nullptr) return;
  if (const Number* number = value->as_number()) {
    out = number->as_double();
  } else {
    wrong_kind(key, "a number", *value);
  }
}

void Fields::read(std::string_view key, std::vector<std::string>& out) {
  const Value* value = find(key);
  if (value == nullptr) return;
  const Array* items = value->as_array();
  if (items == nullptr) return wrong_kind(key, "a list of strings", *value);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < items->size(); ++i) {
    const Value& item = (*items)[i];
    if (item.is_null()) {
      texts.emplace_back();  // as Go decodes null into a string
      continue;
    }
    const std::string* text = item.as_string();
    if (text == nullptr) return wrong_kind(cat(key, "[", i, "]"), "a string", item);
    texts.push_back(*text);
  }
  out = std::move(texts);
}

void Fields::object(std::string_view key,
                    const std::function<Result<void>(const Object&, std::string)>& visit) {
  const Value* value = find(key);
  if (value == nullptr || error_) return;
  const Object* object = value->as_object();
  if (object == nullptr) return wrong_kind(key, "an object", *value);
  if (auto visited = visit(*object, path_of(key)); !visited) error_ = std::move(visited).error();
}

void Fields::list(std::string_view key,
                  const std::function<Result<void>(const Value&, std::string)>& visit) {
  const Value* value = find(key);
  if (value == nullptr || error_) return;
  const Array* items = value->as_array();
  if (items == nullptr) return wrong_kind(key, "a list", *value);
  for (std::size_t i = 0; i < items->size(); ++i) {
    auto visited = visit((*items)[i], cat(path_of(key), "[", i, "]"));
    if (visited) continue;
    error_ = std::move(visited).error();
    return;
  }
}

Result<void> Fields::done() const {
  if (error_) return *error_;
  return {};
}

}  // namespace mnet::json
