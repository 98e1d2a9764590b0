// Builds text and takes it apart. Small on purpose: the shim must not carry a formatting library.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mnet {

namespace text_detail {

inline void append(std::string& out, std::string_view piece) { out += piece; }
inline void append(std::string& out, char piece) { out += piece; }

template <std::integral Integer>
  requires(!std::same_as<Integer, char> && !std::same_as<Integer, bool>)
void append(std::string& out, Integer number) {
  char digits[24];
  auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}

}  // namespace text_detail

// The pieces one after another: text, characters and integers.
template <typename... Pieces>
std::string cat(const Pieces&... pieces) {
  std::string out;
  (text_detail::append(out, pieces), ...);
  return out;
}

// "a,b,,c" split at ',' gives four parts; the empty text gives one empty part. The views point into
// `text`.
std::vector<std::string_view> split(std::string_view text, char separator);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

// Without ASCII white space at both ends.
std::string_view trim(std::string_view text, std::string_view blanks = " \t\n\r\v\f");

std::string to_lower(std::string_view text);                       // ASCII letters only
bool equal_ignoring_case(std::string_view a, std::string_view b);  // ASCII letters only

// How much of a foreign text (a pod's, a definition's, a peer's) a message shows: kShown bytes.
inline constexpr std::size_t kShown = 100;
inline constexpr std::size_t kWhole = std::string_view::npos;

// Foreign text for a message, label or log line: at most `most` bytes, then "..." if there is more.
// Characters that do not print are escaped as in go_quoted(), so that no terminal obeys them; all
// others are unchanged.
std::string excerpt(std::string_view text, std::size_t most = kShown);

// The same in double quotes, as Go's %q prints it (01, 0.2): the original's messages, which people
// search for, contain such texts.
std::string go_quoted(std::string_view text, std::size_t most = kShown);

// Lists as in messages of the original: `["a" "b"]`, and `[a b]` from bracketed(). A long one is
// cut after some items and ends in "...".
std::string go_quoted_list(const std::vector<std::string>& items);
std::string bracketed(const std::vector<std::string>& items);

// Base64 with the standard alphabet and padding. Decoding skips CR and LF, as Go's decoder does,
// and returns false on any other error.
std::string to_base64(std::string_view bytes);
bool from_base64(std::string_view text, std::string& bytes);

// The path cleaned as by Go's path.Clean, without looking at the disk: "//" and "." are removed,
// ".." removes its parent, and "" becomes ".".
std::string clean_path(std::string_view path);

}  // namespace mnet
