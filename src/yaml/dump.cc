#include <algorithm>
#include <cstddef>
#include <string>

#include "base/text.h"
#include "json/json.h"
#include "yaml/scalar.h"
#include "yaml/yaml.h"

namespace mnet::yaml {
namespace {

// Whether the text can stand without quotes, and is still a text then.
bool is_plain(const std::string& text) {
  const auto is_usual = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '/' || c == '-' || c == '@';
  };
  if (text.empty() || !std::ranges::all_of(text, is_usual)) return false;
  if (text.starts_with('-') || text.starts_with('@') || text == "---" || text == "...")
    return false;
  return value_of_plain(text).as_string() != nullptr && !is_not_finite(text);
}

std::string scalar_text(const json::Value& value) {
  const std::string* text = value.as_string();
  return text != nullptr && is_plain(*text) ? *text : json::dump(value, {.escape_html = false});
}

bool is_filled(const json::Value& value) {
  return (value.as_object() != nullptr && !value.as_object()->empty()) ||
         (value.as_array() != nullptr && !value.as_array()->empty());
}

void write(const json::Value& value, std::size_t indent, std::string& out);

// After a key or a dash: on the same line, or below.
void write_after(const json::Value& value, std::size_t indent, std::string& out) {
  if (is_filled(value)) {
    out += '\n';
    write(value, indent, out);
  } else {
    out += cat(" ", scalar_text(value), "\n");
  }
}

void write(const json::Value& value, std::size_t indent, std::string& out) {
  if (const json::Object* object = value.as_object(); object != nullptr && is_filled(value)) {
    for (const auto& [key, member] : *object) {
      out += cat(std::string(indent, ' '), scalar_text(json::Value(key)), ":");
      write_after(member, member.as_array() != nullptr ? indent : indent + 2, out);
    }
  } else if (const json::Array* list = value.as_array(); list != nullptr && is_filled(value)) {
    for (const json::Value& item : *list) {
      std::string inner;
      write(item, indent + 2, inner);
      // The dash takes the place of the first line's indentation.
      out += cat(std::string(indent, ' '), "- ", trim(inner), "\n");
    }
  } else {
    out += cat(std::string(indent, ' '), scalar_text(value), "\n");
  }
}

}  // namespace

std::string dump(const json::Value& value) {
  std::string out;
  write(value, 0, out);
  return out;
}

}  // namespace mnet::yaml
