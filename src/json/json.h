// JSON values that lose nothing: numbers keep their text, objects keep the order of their members.
//
// Parsing follows 01, 0.3: strict JSON, one value; of several equal keys the last one stays, in its
// place; bytes that are not UTF-8 and lone surrogates become U+FFFD; nesting is limited. Nothing
// here throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace mnet::json {

class Value;
using Array = std::vector<Value>;
using Member = std::pair<std::string, Value>;

// Members in the order they were set; a key occurs once.
class Object {
 public:
  Object() = default;
  Object(std::initializer_list<Member> members);

  // nullptr if there is no such member. Valid until the object is changed.
  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);
  // The last member that Go's decoder takes for `key`: letter case does not matter. Other programs
  // read the same documents that way, so no spelling may win over a later one.
  const Value* find_folded(std::string_view key) const;

  // Replaces the member in its place, or appends it.
  Value& set(std::string key, Value value);
  // The same for each member of `others`, looking through our own only once.
  void set_all(const Object& others);
  bool erase(std::string_view key);
  // The same, and no other spelling that find_folded() takes for the key stays.
  void set_folded(std::string key, Value value);
  void erase_folded(std::string_view key);
  // Does not look for an equal key: the caller knows that the key is new.
  void append(std::string key, Value value);

  std::size_t size() const;
  bool empty() const { return size() == 0; }
  auto begin() const { return members_.begin(); }
  auto end() const { return members_.end(); }
  auto begin() { return members_.begin(); }
  auto end() { return members_.end(); }

 private:
  std::vector<Member> members_;
};

// A number as it was written: `1.50`, `1e400` and 64-bit integers pass through unchanged.
class Number {
 public:
  Number(std::int64_t value);  // NOLINT(google-explicit-constructor): a number is a number
  static Number of_text(std::string text) {
    return Number(std::move(text));
  }  // must be valid JSON number text

  const std::string& text() const { return text_; }
  // Only plain decimal integers that fit; none for `1.0` and `1e3` (01, 0.3).
  std::optional<std::int64_t> as_int64() const;
  std::optional<std::uint64_t> as_uint64() const;
  double as_double() const;

  // Compares values: `1.0` equals `1`. Digits beyond the precision of a double count.
  friend bool operator==(const Number& a, const Number& b);

 private:
  explicit Number(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

class Value {
 public:
  Value() = default;                                        // null
  Value(std::nullptr_t) {}                                  // NOLINT(google-explicit-constructor)
  Value(bool value) : data_(value) {}                       // NOLINT(google-explicit-constructor)
  Value(Number value) : data_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Value(std::int64_t value) : data_(Number(value)) {}       // NOLINT(google-explicit-constructor)
  Value(int value) : data_(Number(std::int64_t{value})) {}  // NOLINT(google-explicit-constructor)
  Value(std::string value) : data_(std::move(value)) {}     // NOLINT(google-explicit-constructor)
  Value(std::string_view value)
      : data_(std::string(value)) {}                       // NOLINT(google-explicit-constructor)
  Value(const char* value) : data_(std::string(value)) {}  // NOLINT(google-explicit-constructor)
  Value(Array value) : data_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Value(Object value) : data_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  // A list of texts, the most common kind of array.
  Value(const std::vector<std::string>& texts);  // NOLINT(google-explicit-constructor)

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  // nullptr if the value is of another kind.
  const bool* as_bool() const { return std::get_if<bool>(&data_); }
  const Number* as_number() const { return std::get_if<Number>(&data_); }
  const std::string* as_string() const { return std::get_if<std::string>(&data_); }
  const Array* as_array() const { return std::get_if<Array>(&data_); }
  Array* as_array() { return std::get_if<Array>(&data_); }
  const Object* as_object() const { return std::get_if<Object>(&data_); }
  Object* as_object() { return std::get_if<Object>(&data_); }

  // "null", "a boolean", "a number", "a string", "a list", "an object": for messages.
  std::string_view kind() const;

  // Compares structure: the order of members does not matter, numbers are compared by value.
  friend bool operator==(const Value& a, const Value& b);

 private:
  std::variant<std::monostate, bool, Number, std::string, Array, Object> data_;
};

// The same for all spellings of a key that Go's decoder takes for the same.
std::string folded(std::string_view key);
// Whether Go's decoder takes `key` for a known key, which is in ASCII.
bool is_spelling_of(std::string_view key, std::string_view known);

inline constexpr int kMaxDepth = 1000;

// Exactly one value; anything but white space after it is an error. Errors name the place: `line 1,
// column 7: expected a value`.
Result<Value> parse(std::string_view text, int max_depth = kMaxDepth);
// The same for a text that other programs read, too. They differ in what they make of a repeated
// key: Go reads two objects into one, and some lists, and may ignore a later null. Only texts,
// integers and booleans may be repeated, each by its own kind: there the last one counts for all.
// Errors name the object: `line 1, column 40: plugins[0].ipam: the key "x" is repeated`.
Result<Value> parse_unambiguous(std::string_view text);
// The same, and it must be an object.
Result<Object> parse_object(std::string_view text, int max_depth = kMaxDepth);
// The same without members of these names, at any depth: they are skipped, and nothing is built of
// them. More than `most_values` of what is left are an error.
inline constexpr std::size_t kMostValues = 128u << 10;
Result<Object> parse_object_without(std::span<const std::string_view> names, std::string_view text,
                                    std::size_t most_values = kMostValues);

struct Style {
  bool sorted = false;      // members by key, at every level
  int indent = 0;           // blanks per level; 0: compact, on one line
  bool escape_html = true;  // `<`, `>`, `&`, U+2028 and U+2029 as \u escapes, as Go does
};
std::string dump(const Value& value, Style style = {});
// Without a copy in a Value.
std::string dump(const Object& object, Style style = {});
std::string dump(const Array& array, Style style = {});
inline constexpr Style kSorted{.sorted = true};
inline constexpr Style kPretty{.indent = 4};

}  // namespace mnet::json
