// Where a flag's value is stored and how its text is read: what all dialects of command lines
// share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace mnet {

// The variable of a flag; it holds the default until a value is stored.
using FlagValue = std::variant<std::string*, bool*, std::optional<std::int64_t>*>;

// False if the text is not a value of that kind: integers are decimal, booleans those of 03, 2.1.
bool store_flag(const FlagValue& value, std::string_view text);

inline bool is_boolean(const FlagValue& value) { return std::holds_alternative<bool*>(value); }

// "string", "int", or nothing for a boolean: what usage texts show after the name.
std::string_view flag_kind(const FlagValue& value);

// The default as usage texts show it; empty where they show none.
std::string shown_default(const FlagValue& value);

}  // namespace mnet
