#include "json/secrets.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/text.h"
#include "json/json.h"

namespace mnet::json {
namespace {

constexpr std::string_view kRemoved = "<removed>";

constexpr std::array<std::string_view, 10> kInside = {
    "token",   "password",   "passwd",     "passphrase", "secret",
    "keydata", "credential", "privatekey", "sharedkey",  "authorization"};
constexpr std::array<std::string_view, 5> kAtTheEnd = {"apikey", "accesskey", "authkey",
                                                       "clientkey", "encryptionkey"};
constexpr std::array<std::string_view, 3> kWhole = {"key", "psk", "pass"};
constexpr std::array<std::string_view, 6> kPlaces = {"file", "path", "dir", "name", "ref", "id"};

// Only letters and digits, in lower case, so that all spellings of a name are equal.
std::string plain(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c >= 'A' && c <= 'Z') {
      out += static_cast<char>(c - 'A' + 'a');
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      out += c;
    }
  }
  return out;
}

bool says_nothing(const Value& value) {
  if (value.is_null() || value.as_bool() != nullptr) return true;
  const std::string* text = value.as_string();
  return text != nullptr && text->empty();
}

// Whether it is the contents of a kubeconfig, and not its path.
bool is_kubeconfig(std::string_view key, const Value& value) {
  if (plain(key) != "kubeconfig") return false;
  const std::string* path = value.as_string();
  return path == nullptr || path->find('\n') != std::string::npos || !path->starts_with('/');
}

bool remove_secrets(Value& value) {
  bool removed = false;
  if (Array* list = value.as_array()) {
    for (Value& element : *list) removed |= remove_secrets(element);
  }
  Object* object = value.as_object();
  if (object == nullptr) return removed;
  for (auto& [key, member] : *object) {
    if (says_nothing(member)) continue;
    if (is_secret_name(key) || is_kubeconfig(key, member)) {
      member = Value(kRemoved);
      removed = true;
    } else {
      removed |= remove_secrets(member);
    }
  }
  return removed;
}

bool is_word(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

bool is_of_token(char c) { return is_word(c) || c == '+' || c == '/' || c == '=' || c == '~'; }

std::size_t end_of(std::string_view text, std::size_t from, bool (*belongs)(char)) {
  while (from < text.size() && belongs(text[from])) ++from;
  return from;
}

// Without what stands between `-----BEGIN ...` and `-----END ...-----`, or the end of the text.
std::string without_pem(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN", kEnd = "-----END", kClose = "-----";
  std::string out;
  for (;;) {
    const std::size_t at = text.find(kBegin);
    if (at == std::string_view::npos) return out += text;
    out += text.substr(0, at);
    out += kRemoved;
    const std::size_t last = text.find(kEnd, at);
    if (last == std::string_view::npos) return out;
    const std::size_t close = text.find(kClose, last + kEnd.size());
    if (close == std::string_view::npos) return out;
    text.remove_prefix(close + kClose.size());
  }
}

// `eyJ...`: three parts, or what a log has cut of them.
bool is_jwt(std::string_view word) { return word.size() > 20 && word.starts_with("eyJ"); }

bool is_scheme(std::string_view word) {
  return equal_ignoring_case(word, "bearer") || equal_ignoring_case(word, "basic");
}

bool is_quote(char c) { return c == '"' || c == '\''; }

// Where a quoted text ends that begins at `from`: before the next such quote in that line with as
// many backslashes in front as the first one has, or fewer (JSON in strings of JSON).
std::size_t end_of_quoted(std::string_view text, std::size_t from, char quote,
                          std::size_t backslashes) {
  std::size_t seen = 0;
  for (std::size_t at = from; at < text.size(); ++at) {
    if (text[at] == '\n') return at;
    if (text[at] == quote && seen <= backslashes) return at - seen;
    seen = text[at] == '\\' ? seen + 1 : 0;
  }
  return text.size();
}

// The value of a secret, in a text that cannot be read as JSON.
struct Span {
  std::size_t begin = 0, end = 0;
};

std::size_t indentation(std::string_view text, std::size_t line) {
  return end_of(text, line, [](char c) { return c == ' '; }) - line;
}

// Where the lines end that YAML takes for the value of a key at `at` whose own line ends after
// `begin`, with `|`, `>` or nothing: those that are indented more than the key. Else `begin`.
std::size_t end_of_block(std::string_view text, std::size_t at, std::size_t begin) {
  const auto is_of_mark = [](char c) {
    return c == '|' || c == '>' || c == '-' || c == '+' || c == ' ' || (c >= '1' && c <= '9');
  };
  const bool has_mark = begin < text.size() && (text[begin] == '|' || text[begin] == '>');
  const std::size_t newline = has_mark ? end_of(text, begin, is_of_mark) : begin;
  if (newline >= text.size() || text[newline] != '\n') return begin;
  const std::size_t own_line = text.rfind('\n', at == 0 ? 0 : at - 1) + 1;
  const std::size_t own = indentation(text, own_line);
  std::size_t end = newline;
  while (end < text.size() && text[end] == '\n') {
    const std::size_t next = std::min(text.find('\n', end + 1), text.size());
    const bool is_blank = trim(text.substr(end + 1, next - end - 1)).empty();
    if (!is_blank && indentation(text, end + 1) <= own) break;
    end = next;
  }
  return end > newline ? end : begin;
}

// What follows a name that ends at `at`: after `:` or `=`, to the end of the quotes or of the word.
Span value_after(std::string_view text, std::size_t at) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const auto is_backslash = [](char c) { return c == '\\'; };
  const auto is_of_value = [](char c) {
    return c != ' ' && c != '"' && c != '\'' && c != ',' && c != '\n' && c != '\\' && c != '}' &&
           c != ';' && c != '&' && c != ']';
  };
  const std::size_t mark =
      end_of(text, at, [](char c) { return c == ' ' || c == '\t' || c == '\\' || is_quote(c); });
  if (mark == text.size() || (text[mark] != ':' && text[mark] != '=')) return {};
  const std::size_t first = end_of(text, mark + 1, is_blank);
  const std::size_t begin = end_of(text, first, is_backslash);
  if (begin < text.size() && is_quote(text[begin])) {
    return {begin + 1, end_of_quoted(text, begin + 1, text[begin], begin - first)};
  }
  if (const std::size_t end = end_of_block(text, at, begin); end > begin) return {begin, end};
  return {begin, end_of(text, begin, is_of_value)};
}

// Names with their values, tokens, and passwords of URLs.
std::string without_words(std::string_view text) {
  constexpr std::string_view kUrl = "://";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with(kUrl)) {
      const std::size_t host = at + kUrl.size();
      const std::size_t sign = text.find_first_of("@/ \"'\n", host);
      out += kUrl;
      at = host;
      if (sign != std::string_view::npos && text[sign] == '@') {
        out += kRemoved;
        at = sign;
      }
      continue;
    }
    if (!is_word(text[at])) {
      out += text[at++];
      continue;
    }
    const std::size_t end = end_of(text, at, is_word);
    const std::string_view word = text.substr(at, end - at);
    if (is_jwt(word)) {
      out += kRemoved;
      at = end_of(text, end, is_of_token);
    } else if (is_scheme(word) && end + 1 < text.size() && text[end] == ' ' &&
               is_of_token(text[end + 1])) {
      out += cat(word, " ", kRemoved);
      at = end_of(text, end + 1, is_of_token);
    } else if (const Span value = is_secret_name(word) ? value_after(text, end) : Span();
               value.begin < value.end) {
      out += text.substr(at, value.begin - at);
      out += kRemoved;
      at = value.end;
      // `Authorization: Bearer <token>`
      if (is_scheme(text.substr(value.begin, value.end - value.begin)) && at + 1 < text.size() &&
          text[at] == ' ') {
        at = end_of(text, at + 1, is_of_token);
      }
    } else {
      out += word;
      at = end;
    }
  }
  return out;
}

void scrub(Value& value, int depth_left);

// JSON inside, plain or as Base64, becomes the text of that JSON.
std::string scrubbed_string(const std::string& text, int depth_left) {
  const std::string_view inside = trim(text);
  std::string decoded;
  const bool may_be_base64 =
      inside.size() > 16 && !inside.contains(' ') && !inside.starts_with('{');
  const bool is_base64 = may_be_base64 && from_base64(inside, decoded) &&
                         (decoded.starts_with('{') || decoded.contains("-----BEGIN"));
  const std::string_view shown = is_base64 ? std::string_view(decoded) : std::string_view(text);
  const std::string_view begin = trim(shown);
  if (depth_left > 0 && (begin.starts_with('{') || begin.starts_with('['))) {
    if (auto parsed = parse(shown)) {
      scrub(*parsed, depth_left - 1);
      return dump(*parsed, {.escape_html = false});
    }
  }
  return without_words(without_pem(shown));
}

void scrub(Value& value, int depth_left) {
  (void)remove_secrets(value);
  if (Array* list = value.as_array()) {
    for (Value& element : *list) scrub(element, depth_left);
  }
  if (Object* object = value.as_object()) {
    for (auto& [key, member] : *object) scrub(member, depth_left);
  }
  if (const std::string* text = value.as_string())
    value = Value(scrubbed_string(*text, depth_left));
}

}  // namespace

bool is_secret_name(std::string_view key) {
  const std::string name = plain(key);
  const auto ends = [&name](std::string_view end) { return name.ends_with(end); };
  if (std::ranges::find(kWhole, name) != kWhole.end()) return true;
  if (std::ranges::any_of(kPlaces, ends)) return false;
  if (std::ranges::any_of(kAtTheEnd, ends)) return true;
  return std::ranges::any_of(
      kInside, [&name](std::string_view part) { return name.find(part) != std::string::npos; });
}

std::string without_secrets(std::string_view text) {
  auto value = parse(text);
  if (!value) return cat("<", text.size(), " bytes that are not JSON>");
  if (!remove_secrets(*value)) return std::string(text);
  return dump(*value, {.escape_html = false});
}

std::string scrubbed(std::string_view text) {
  constexpr int kMostDepth = 8;  // of JSON in strings of JSON
  // Each value is indented by its depth: what is deeper is shown as it is.
  constexpr int kDeepest = 64;
  if (const std::string_view begin = trim(text); begin.starts_with('{') || begin.starts_with('[')) {
    if (auto value = parse(text, kDeepest)) {
      scrub(*value, kMostDepth);
      return dump(*value, {.indent = 2, .escape_html = false});
    }
  }
  return without_words(without_pem(text));
}

}  // namespace mnet::json
