// What lint reports: one mistake, where it is, and its code (docs/lint.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mnet::lint {

enum class Severity : std::uint8_t { kError, kWarning };

std::string_view name_of(Severity severity);

// Codes are stable: a code is never given to another mistake.
struct Code {
  std::string_view code;  // MN012
  Severity severity;
  std::string_view title;  // what is wrong, in a few words
};

// All codes, in order.
std::span<const Code> all_codes();
// Only for a code in the table.
const Code& code_of(std::string_view code);

// Where in a file. Line and column count from 1, columns in bytes; 0: not known.
struct Spot {
  std::string file = {};
  int line = 0, column = 0;
  std::string field = {};  // of the manifest: spec.config
  std::string path = {};   // inside the JSON text: .plugins[0].type
};

struct Finding {
  Spot spot;
  std::string_view code;  // of all_codes()
  std::string object;     // default/net, Deployment default/web, or the file's name
  std::string text;       // what is wrong and what to do
};

}  // namespace mnet::lint
