#include "base/flag_value.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/integer.h"
#include "base/text.h"

namespace mnet {
namespace {

std::optional<bool> parse_boolean(std::string_view text) {
  for (const std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

struct Storing {
  std::string_view text;

  bool operator()(std::string* value) const {
    *value = text;
    return true;
  }
  bool operator()(bool* value) const {
    const auto parsed = parse_boolean(text);
    if (parsed) *value = *parsed;
    return parsed.has_value();
  }
  bool operator()(std::optional<std::int64_t>* value) const {
    const auto parsed = parse_integer<std::int64_t>(text);
    if (parsed) *value = parsed;
    return parsed.has_value();
  }
};

struct Showing {
  std::string operator()(const std::string* value) const {
    return value->empty() ? "" : go_quoted(*value, kWhole);
  }
  std::string operator()(const bool* value) const { return *value ? "true" : ""; }
  std::string operator()(const std::optional<std::int64_t>* value) const {
    return *value ? cat(**value) : "";
  }
};

}  // namespace

bool store_flag(const FlagValue& value, std::string_view text) {
  return std::visit(Storing{text}, value);
}

std::string_view flag_kind(const FlagValue& value) {
  if (std::holds_alternative<std::string*>(value)) return "string";
  return is_boolean(value) ? "" : "int";
}

std::string shown_default(const FlagValue& value) { return std::visit(Showing{}, value); }

}  // namespace mnet
