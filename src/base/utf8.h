// UTF-8, one code point at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mnet {

inline constexpr char32_t kReplacement = 0xFFFD;

struct CodePoint {
  char32_t value;     // kReplacement if the bytes are invalid
  std::size_t bytes;  // its length in the text: 1 for an invalid byte, 0 at the end
  bool valid;
};

// The code point at the start of `text`. As in Go, overlong forms, surrogates and values above
// U+10FFFF are invalid, and each of their bytes counts as one invalid code point.
CodePoint decode_utf8(std::string_view text);

void append_utf8(std::string& out, char32_t code_point);

}  // namespace mnet
