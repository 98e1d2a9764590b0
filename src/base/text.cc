#include "base/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace mnet {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::size_t kMostListed = 16;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

void append_hex(std::string& out, char32_t value, int digits) {
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) out += kHex[(value >> shift) & 0xF];
}

// Whether Go's strconv.IsPrint lets the code point stand. Exact for what occurs in configurations:
// the blocks of controls, separators, format characters, surrogates, private use and noncharacters.
bool is_printable(char32_t c) {
  if (c < 0x20 || c == 0x7F) return false;
  if (c >= 0x80 && c <= 0xA0) return false;  // C1 controls and the no-break space
  if (c == 0xAD) return false;               // soft hyphen
  if (c == 0x1680 || (c >= 0x2000 && c <= 0x200F) || (c >= 0x2028 && c <= 0x202F)) return false;
  if (c >= 0x205F && c <= 0x206F) return false;
  if (c == 0x3000 || c == 0xFEFF || c == 0x180E || c == 0x061C || c == 0x070F) return false;
  if (c >= 0xD800 && c <= 0xF8FF) return false;  // surrogates, private use
  if (c >= 0xFFF0 && c <= 0xFFFB) return false;
  if ((c & 0xFFFE) == 0xFFFE) return false;
  return c < 0xE0000;
}

// One code point, or one invalid byte, as go_quoted() writes it if it does not print.
std::string escape_of(std::string_view bytes, const CodePoint& c) {
  std::string out;
  if (!c.valid || (c.value < 0x80 && (c.value < 7 || c.value > 13))) {
    out = "\\x";
    append_hex(out, static_cast<unsigned char>(bytes[0]), 2);
  } else if (c.value < 0x80) {
    out = {'\\', "abtnvfr"[c.value - 7]};
  } else {
    out = c.value < 0x10000 ? "\\u" : "\\U";
    append_hex(out, c.value, c.value < 0x10000 ? 4 : 8);
  }
  return out;
}

// `marked` are the characters that get a backslash. The text is not empty.
std::string shown(std::string_view text, const CodePoint& c, std::string_view marked) {
  if (!c.valid || !is_printable(c.value)) return escape_of(text, c);
  const std::string_view bytes = text.substr(0, c.bytes);
  return c.bytes == 1 && marked.contains(bytes[0]) ? cat('\\', bytes) : std::string(bytes);
}

// The beginning that stands for itself: what most texts are made of.
std::string_view plain_part(std::string_view text, std::string_view marked) {
  const auto end = std::ranges::find_if(
      text, [marked](char c) { return c < 0x20 || c > 0x7E || marked.contains(c); });
  return {text.begin(), end};
}

void append_excerpt(std::string& out, std::string_view text, std::size_t most,
                    std::string_view marked) {
  std::size_t left = most;
  while (!text.empty()) {
    const std::string_view plain = plain_part(text.substr(0, left), marked);
    out += plain;
    left -= plain.size();
    text.remove_prefix(plain.size());
    if (text.empty()) return;
    const CodePoint c = decode_utf8(text);
    const std::string piece = shown(text, c, marked);
    if (piece.size() > left) {
      out += "...";
      return;
    }
    out += piece;
    left -= piece.size();
    text.remove_prefix(c.bytes);
  }
}

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::string_view trim(std::string_view text, std::string_view blanks) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

std::string excerpt(std::string_view text, std::size_t most) {
  std::string out;
  append_excerpt(out, text, most, "");
  return out;
}

std::string go_quoted(std::string_view text, std::size_t most) {
  std::string out = "\"";
  append_excerpt(out, text, most, "\"\\");
  out += '"';
  return out;
}

std::string go_quoted_list(const std::vector<std::string>& items) {
  std::vector<std::string> each;
  for (const std::string& item : items) {
    each.push_back(go_quoted(item));
    if (each.size() > kMostListed) break;
  }
  return bracketed(each);
}

std::string bracketed(const std::vector<std::string>& items) {
  if (items.size() <= kMostListed) return cat("[", join(items, " "), "]");
  return cat("[", join({items.begin(), items.begin() + kMostListed}, " "), " ...]");
}

std::string to_base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4, '=');
  char* to = out.data();
  for (std::size_t i = 0; i < bytes.size(); i += 3, to += 4) {
    const std::size_t left = bytes.size() - i;
    const auto byte = [&](std::size_t k) -> std::uint32_t {
      return k < left ? static_cast<unsigned char>(bytes[i + k]) : 0;
    };
    const std::uint32_t bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
    to[0] = kBase64[bits >> 18];
    to[1] = kBase64[(bits >> 12) & 63];
    if (left > 1) to[2] = kBase64[(bits >> 6) & 63];
    if (left > 2) to[3] = kBase64[bits & 63];
  }
  return out;
}

bool from_base64(std::string_view text, std::string& bytes) {
  bytes.resize(text.size() / 4 * 3 + 2);  // at the end without what line breaks and padding took
  char* to = bytes.data();
  std::uint32_t bits = 0;
  int digits = 0;
  int padding = 0;
  for (const char c : text) {
    if (c == '\r' || c == '\n') continue;
    if (c == '=') {
      ++padding;
      if (digits + padding > 4 || digits < 2) return false;
      continue;
    }
    const int digit = base64_digit(c);
    if (digit < 0 || padding > 0) return false;
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    if (++digits == 4) {
      for (const int shift : {16, 8, 0}) *to++ = static_cast<char>((bits >> shift) & 0xFF);
      bits = 0;
      digits = 0;
    }
  }
  if (digits + padding != (digits == 0 ? 0 : 4)) return false;
  if (digits > 0) *to++ = static_cast<char>((bits >> (digits == 2 ? 4 : 10)) & 0xFF);
  if (digits == 3) *to++ = static_cast<char>((bits >> 2) & 0xFF);
  bytes.resize(static_cast<std::size_t>(to - bytes.data()));
  return true;
}

std::string clean_path(std::string_view path) {
  const bool rooted = !path.empty() && path[0] == '/';
  std::vector<std::string> kept;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    const bool has_parent = !kept.empty() && kept.back() != "..";
    if (part == ".." && has_parent) {
      kept.pop_back();
    } else if (part != ".." || !rooted) {
      kept.emplace_back(part);
    }
  }
  std::string out = cat(rooted ? "/" : "", join(kept, "/"));
  return out.empty() ? "." : out;
}

}  // namespace mnet
