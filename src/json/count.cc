#include "json/count.h"

#include <cstddef>
#include <string_view>

namespace mnet::json {
namespace {

// The place of the quote that ends the string that begins at `begin`, or the end of the text.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return at;
}

}  // namespace

// Commas, and what stands before the first.
Count count(std::string_view text) {
  Count count{.elements = 0, .values = 1};
  std::size_t depth = 0;
  bool is_empty = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') continue;
    if (c == ',' && depth == 1) ++count.elements;
    if (c == ',' || c == '[' || c == '{') ++count.values;
    if (c == ']' || c == '}') depth -= depth > 0 ? 1 : 0;
    const bool is_outermost = (c == '[' || c == ']') && depth == 0;
    if (!is_outermost) is_empty = false;
    if (c == '[' || c == '{') ++depth;
    if (c == '"') at = end_of_string(text, at);
  }
  if (!is_empty) ++count.elements;
  return count;
}

}  // namespace mnet::json
