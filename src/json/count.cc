#include "json/count.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace mnet::json {
namespace {

// How much longer than in the text it may be written.
std::size_t growth_of(char c) {
  if (c == '<' || c == '>' || c == '&') return 5;       // \u003c
  return static_cast<unsigned char>(c) < 0x80 ? 0 : 3;  // not UTF-8: U+FFFD; U+2028: \u2028
}
std::size_t growth_of_escape(char c) { return c == 'b' || c == 'f' ? 4 : 0; }  // \u0008

// The place of the quote that ends the string that begins at `begin`, or the end of the text.
std::size_t end_of_string(std::string_view text, std::size_t begin, std::size_t& growth) {
  std::size_t at = begin + 1;
  for (; at < text.size() && text[at] != '"'; ++at) {
    growth += growth_of(text[at]);
    if (text[at] != '\\') continue;
    ++at;
    if (at < text.size()) growth += growth_of_escape(text[at]);
  }
  return at;
}

}  // namespace

// Commas, and what stands before the first.
Count count(std::string_view text) {
  Count count{.elements = 0, .values = 1, .bytes = text.size(), .listed = 0};
  std::size_t depth = 0;
  std::array<char, 2> outer{};  // the brackets of the two outermost levels
  bool is_empty = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') continue;
    if (c == ',' && depth == 1) ++count.elements;
    if (c == ',' || c == '[' || c == '{') ++count.values;
    if (c == ']' || c == '}') depth -= depth > 0 ? 1 : 0;
    const bool is_outermost = (c == '[' || c == ']') && depth == 0;
    if (!is_outermost) is_empty = false;
    if (c == '{' && depth == 2 && outer == std::array{'{', '['}) ++count.listed;
    if ((c == '[' || c == '{') && depth < outer.size()) outer.at(depth) = c;
    if (c == '[' || c == '{') ++depth;
    if (c == '"') at = end_of_string(text, at, count.bytes);
  }
  if (!is_empty) ++count.elements;
  return count;
}

}  // namespace mnet::json
