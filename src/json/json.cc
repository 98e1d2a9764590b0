#include "json/json.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/integer.h"
#include "base/text.h"
#include "base/utf8.h"

namespace mnet::json {
namespace {

// A number's value in one canonical form: sign, digits without zeros at either end, power of ten.
// Huge exponents, which no sane document has, saturate: such numbers compare as if their exponents
// were equal.
struct Decimal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;

  friend bool operator==(const Decimal&, const Decimal&) = default;
};

Decimal decimal_of(std::string_view text) {
  Decimal out;
  if (text.starts_with('-')) {
    out.negative = true;
    text.remove_prefix(1);
  }
  const std::size_t e = text.find_first_of("eE");
  if (e != std::string_view::npos) {
    std::string_view exponent = text.substr(e + 1);
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    const auto parsed =
        std::from_chars(exponent.data(), exponent.data() + exponent.size(), out.exponent);
    if (parsed.ec == std::errc::result_out_of_range) {
      out.exponent = exponent.starts_with('-') ? INT64_MIN / 2 : INT64_MAX / 2;
    }
    out.exponent = std::clamp(out.exponent, INT64_MIN / 2, INT64_MAX / 2);
    text = text.substr(0, e);
  }
  for (bool behind_point = false; const char c : text) {
    if (c == '.') {
      behind_point = true;
      continue;
    }
    out.digits += c;
    if (behind_point) --out.exponent;
  }
  while (out.digits.ends_with('0')) {
    out.digits.pop_back();
    ++out.exponent;
  }
  out.digits.erase(0, out.digits.find_first_not_of('0'));
  if (out.digits.empty()) return {};
  return out;
}

// In one order for every object with these keys.
std::vector<const Member*> by_key(const Object& object) {
  std::vector<const Member*> members;
  members.reserve(object.size());
  for (const Member& member : object) members.push_back(&member);
  std::ranges::sort(members, {},
                    [](const Member* member) { return std::string_view(member->first); });
  return members;
}

}  // namespace

// Two letters beyond ASCII have a letter of ASCII as their other case: the long s and the Kelvin
// sign.
std::string folded(std::string_view key) {
  std::string out;
  while (!key.empty()) {
    const CodePoint c = decode_utf8(key);
    const std::string_view letter = c.value == 0x17F ? "s" : c.value == 0x212A ? "k" : "";
    out += letter.empty() ? key.substr(0, c.bytes) : letter;
    key.remove_prefix(c.bytes);
  }
  return to_lower(out);
}

bool is_spelling_of(std::string_view key, std::string_view known) {
  if (key.size() <= known.size()) return equal_ignoring_case(key, known);
  // Only letters beyond ASCII, of three bytes at most, make it longer. Tenants write long keys.
  if (key.size() > 3 * known.size()) return false;
  const bool begins_in_ascii = static_cast<unsigned char>(key.front()) < 0x80;
  if (begins_in_ascii && !equal_ignoring_case(key.substr(0, 1), known.substr(0, 1))) return false;
  if (std::ranges::all_of(key, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
    return false;
  }
  return equal_ignoring_case(folded(key), known);
}

Object::Object(std::initializer_list<Member> members) {
  for (const Member& member : members) set(member.first, member.second);
}

const Value* Object::find(std::string_view key) const {
  for (const Member& member : members_) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

Value* Object::find(std::string_view key) {
  return const_cast<Value*>(std::as_const(*this).find(key));
}

const Value* Object::find_folded(std::string_view key) const {
  for (auto member = members_.rbegin(); member != members_.rend(); ++member) {
    if (is_spelling_of(member->first, key)) return &member->second;
  }
  return nullptr;
}

Value& Object::set(std::string key, Value value) {
  if (Value* present = find(key)) return *present = std::move(value);
  return members_.emplace_back(std::move(key), std::move(value)).second;
}

void Object::set_all(const Object& others) {
  members_.reserve(members_.size() + others.size());  // keys that are known stay where they are
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < members_.size(); ++i) places.emplace(members_[i].first, i);
  for (const Member& member : others) {
    if (const auto place = places.find(member.first); place != places.end()) {
      members_[place->second].second = member.second;
    } else {
      members_.push_back(member);
    }
  }
}

std::size_t Object::size() const { return members_.size(); }

void Object::append(std::string key, Value value) {
  members_.emplace_back(std::move(key), std::move(value));
}

bool Object::erase(std::string_view key) {
  return std::erase_if(members_, [&](const Member& member) { return member.first == key; }) > 0;
}

void Object::set_folded(std::string key, Value value) {
  std::erase_if(members_, [&](const Member& member) {
    return member.first != key && is_spelling_of(member.first, key);
  });
  set(std::move(key), std::move(value));
}

void Object::erase_folded(std::string_view key) {
  std::erase_if(members_, [&](const Member& member) { return is_spelling_of(member.first, key); });
}

Number::Number(std::int64_t value) : text_(cat(value)) {}

std::optional<std::int64_t> Number::as_int64() const { return parse_integer<std::int64_t>(text_); }
std::optional<std::uint64_t> Number::as_uint64() const {
  return parse_integer<std::uint64_t>(text_);
}

double Number::as_double() const { return std::strtod(text_.c_str(), nullptr); }

bool operator==(const Number& a, const Number& b) {
  return a.text_ == b.text_ || decimal_of(a.text_) == decimal_of(b.text_);
}

Value::Value(const std::vector<std::string>& texts) : data_(Array(texts.begin(), texts.end())) {}

std::string_view Value::kind() const {
  switch (data_.index()) {
    case 0:
      return "null";
    case 1:
      return "a boolean";
    case 2:
      return "a number";
    case 3:
      return "a string";
    case 4:
      return "a list";
    default:
      return "an object";
  }
}

bool operator==(const Value& a, const Value& b) {
  if (a.data_.index() != b.data_.index()) return false;
  const Object* members = a.as_object();
  if (members == nullptr) {
    if (const Array* items = a.as_array()) return *items == *b.as_array();
    if (const std::string* text = a.as_string()) return *text == *b.as_string();
    if (const Number* number = a.as_number()) return *number == *b.as_number();
    if (const bool* flag = a.as_bool()) return *flag == *b.as_bool();
    return true;
  }
  const Object& others = *b.as_object();
  if (members->size() != others.size()) return false;
  return std::ranges::equal(by_key(*members), by_key(others), [](const Member* a, const Member* b) {
    return a->first == b->first && a->second == b->second;
  });
}

}  // namespace mnet::json
