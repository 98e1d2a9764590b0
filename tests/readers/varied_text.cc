#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inputs.h"

namespace mnet::readers {
namespace {

using namespace std::literals;

constexpr std::array kOddValues = {"null"sv,
                                   "true"sv,
                                   "false"sv,
                                   "0"sv,
                                   "-0"sv,
                                   "1"sv,
                                   "1.0"sv,
                                   "1e3"sv,
                                   "1E-2"sv,
                                   "1e400"sv,
                                   "9223372036854775807"sv,
                                   "9223372036854775808"sv,
                                   "-9223372036854775808"sv,
                                   "12345678901234567890"sv,
                                   "01"sv,
                                   "+1"sv,
                                   ".5"sv,
                                   "1."sv,
                                   "\"\""sv,
                                   "\"a\""sv,
                                   "\"x/y\""sv,
                                   "\"true\""sv,
                                   "\"1\""sv,
                                   "\"other\""sv,
                                   "\"1.1.0\""sv,
                                   "\"0.2.0\""sv,
                                   "\"10.0.0.1\""sv,
                                   "\"10.0.0.1/24\""sv,
                                   "\"10.0.0.1/024\""sv,
                                   "\"010.0.0.1\""sv,
                                   "\"::ffff:10.0.0.1\""sv,
                                   "\"::ffff:10.0.0.1/120\""sv,
                                   "\"fe80::1%eth0\""sv,
                                   "\"fd00::1/64\""sv,
                                   "\"1.2.3.4/33\""sv,
                                   "\"00:11:22:33:44:55\""sv,
                                   "\"0011.2233.4455\""sv,
                                   "\"00-11-22-33-44-55\""sv,
                                   "\"00:11:22:33:44:55:66:77\""sv,
                                   "\"00:11:22:33:44-55\""sv,
                                   "{}"sv,
                                   "[]"sv,
                                   "[null]"sv,
                                   "[{}]"sv,
                                   "[\"a\"]"sv,
                                   "[\"\"]"sv,
                                   "[\"10.0.0.1\",null]"sv,
                                   "{\"type\":\"b\"}"sv,
                                   "{\"Type\":\"c\",\"type\":null}"sv,
                                   "{\"a\":1,\"a\":2}"sv,
                                   "{\"ingressRate\":5}"sv,
                                   "[{\"type\":\"d\"}]"sv,
                                   "[{\"hostPort\":7}]"sv,
                                   "NaN"sv,
                                   "'a'"sv};

constexpr std::array kOddPieces = {"\\u0041"sv,
                                   "\\u0000"sv,
                                   "\\ud800"sv,
                                   "\\udc00"sv,
                                   "\\ud83d\\ude00"sv,
                                   "\\ud800\\u0041"sv,
                                   "\\ud800\\ud83d\\ude00"sv,
                                   "\\/"sv,
                                   "\\\""sv,
                                   "\\\\"sv,
                                   "\\x41"sv,
                                   "\\u00e"sv,
                                   "\\'"sv,
                                   "\\U0041"sv,
                                   "\\uD83D"sv,
                                   "\xff"sv,
                                   "\xc0\x80"sv,
                                   "\xed\xa0\x80"sv,
                                   "\xf4\x90\x80\x80"sv,
                                   "\xe2\x82"sv,
                                   "\xc3\xa9"sv,
                                   "\xe2\x80\xa8"sv,
                                   "\xc2\xa0"sv,
                                   "\x7f"sv,
                                   "\t"sv,
                                   "\x01"sv,
                                   "<&>"sv,
                                   "\xef\xbf\xbd"sv,
                                   "\xef\xbb\xbf"sv,
                                   "\xc5\xbf"sv,
                                   "\xe2\x84\xaa"sv};

constexpr std::array kOddBetween = {" "sv,
                                    "\t"sv,
                                    "\r\n"sv,
                                    "\v"sv,
                                    "\f"sv,
                                    "\xc2\xa0"sv,
                                    "\xe2\x80\x83"sv,
                                    "\xc2\x85"sv,
                                    ","sv,
                                    ":"sv,
                                    "@"sv,
                                    "/"sv,
                                    "{"sv,
                                    "}"sv,
                                    "["sv,
                                    "]"sv,
                                    "\""sv,
                                    "//"sv,
                                    "/**/"sv,
                                    "a"sv,
                                    "-"sv,
                                    "A"sv,
                                    "@eth0"sv,
                                    "@a b"sv,
                                    "x/"sv,
                                    "\0"sv,
                                    "@0123456789abcdef"sv,
                                    "\xef\xbb\xbf"sv};

struct Span {
  std::size_t begin = 0, end = 0;
};

// A member of an object: its key with the quotes, and all of it up to the end of the value.
struct MemberSpan {
  Span key, whole;
  std::size_t value = 0;  // where the value begins
};

std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

std::size_t end_of_value(std::string_view text, std::size_t at) {
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
      if (depth == 0) return at;
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}' || c == ']')) return at;
    if (c == '{' || c == '[') ++depth;
    ++at;
    if ((c == '}' || c == ']') && --depth == 0) return at;
  }
  return at;
}

std::size_t after_space(std::string_view text, std::size_t at) {
  const std::size_t found = text.find_first_not_of(" \t\r\n", at);
  return found == std::string_view::npos ? text.size() : found;
}

std::vector<MemberSpan> members_of(std::string_view text) {
  std::vector<MemberSpan> members;
  for (std::size_t at = text.find('"'); at < text.size(); at = text.find('"', at)) {
    const std::size_t end = end_of_string(text, at);
    const std::size_t colon = after_space(text, end);
    if (colon < text.size() && text[colon] == ':') {
      const std::size_t value = after_space(text, colon + 1);
      members.push_back({{at, end}, {at, end_of_value(text, value)}, value});
    }
    at = end;
  }
  return members;
}

std::vector<Span> strings_of(std::string_view text) {
  std::vector<Span> strings;
  for (std::size_t at = text.find('"'); at < text.size(); at = text.find('"', at)) {
    const std::size_t end = end_of_string(text, at);
    strings.push_back({at, end});
    at = end;
  }
  return strings;
}

// The same key for a reader that ignores letter case, or one that does not.
std::string varied_key(std::string key, Chance& chance) {
  if (key.size() < 3) return key;
  const std::size_t at = 1 + chance.below(key.size() - 2);
  const char c = key[at];
  if (c == 's' && chance.one_in(2)) return key.replace(at, 1, "\xc5\xbf");
  if (c == 'k' && chance.one_in(2)) return key.replace(at, 1, "\xe2\x84\xaa");
  if (chance.one_in(8)) return key.insert(at, chance.pick(kOddPieces));
  if (c >= 'a' && c <= 'z') key[at] = static_cast<char>(c - 'a' + 'A');
  if (c >= 'A' && c <= 'Z') key[at] = static_cast<char>(c - 'A' + 'a');
  return key;
}

std::string varied_value(const std::string& value, Chance& chance) {
  return chance.one_in(3) ? value : std::string(chance.pick(kOddValues));
}

void repeat_member(std::string& text, const MemberSpan& member, Chance& chance) {
  std::string key = text.substr(member.key.begin, member.key.end - member.key.begin);
  const std::string value = text.substr(member.value, member.whole.end - member.value);
  if (chance.one_in(2)) key = varied_key(std::move(key), chance);
  const std::string added = key + ":" + varied_value(value, chance);
  if (chance.one_in(2)) {
    text.insert(member.whole.begin, added + ",");
  } else {
    text.insert(member.whole.end, "," + added);
  }
}

bool vary_member(std::string& text, Chance& chance) {
  const auto members = members_of(text);
  if (members.empty()) return false;
  const MemberSpan& member = chance.pick(members);
  const auto key = text.substr(member.key.begin, member.key.end - member.key.begin);
  switch (chance.below(4)) {
    case 0:
      text.replace(member.key.begin, key.size(), varied_key(key, chance));
      break;
    case 1:
      text.replace(member.value, member.whole.end - member.value, chance.pick(kOddValues));
      break;
    default:
      repeat_member(text, member, chance);
  }
  return true;
}

bool vary_string(std::string& text, Chance& chance) {
  const auto strings = strings_of(text);
  if (strings.empty()) return false;
  const Span& span = chance.pick(strings);
  if (span.end - span.begin < 2) return false;
  text.insert(span.begin + 1 + chance.below(span.end - span.begin - 1), chance.pick(kOddPieces));
  return true;
}

void vary_bytes(std::string& text, Chance& chance) {
  const std::size_t at = chance.below(text.size() + 1);
  switch (chance.below(4)) {
    case 0:
      text.erase(std::min(at, text.size()), 1 + chance.below(4));
      break;
    case 1:
      if (at < text.size()) text[at] = static_cast<char>(chance.below(256));
      break;
    default:
      text.insert(at, chance.pick(kOddBetween));
  }
}

}  // namespace

std::string varied_text(std::string text, Chance& chance) {
  for (std::size_t left = 1 + chance.below(3); left > 0; --left) {
    const std::size_t way = chance.below(8);
    const bool is_done = way < 5 ? vary_member(text, chance) : way < 7 && vary_string(text, chance);
    if (!is_done) vary_bytes(text, chance);
  }
  return text;
}

}  // namespace mnet::readers
