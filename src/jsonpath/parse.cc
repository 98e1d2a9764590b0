// The grammar is kubectl's, oddities included: a template that works there works here.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/integer.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "base/utf8.h"
#include "json/json.h"
#include "jsonpath/jsonpath.h"
#include "jsonpath/template.h"

namespace mnet::jsonpath {
namespace {

Error reason(std::string text) { return {Errc::kInvalid, std::move(text)}; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_end_of_line(char c) { return c == '\n' || c == '\r'; }
// Bytes of letters beyond ASCII count as such.
bool is_word(char c) {
  return c == '_' || is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (static_cast<unsigned char>(c) & 0x80u) != 0;
}
bool ends_name(char c) {
  return is_end_of_line(c) || std::string_view(" \t.,[]$@{}").find(c) != std::string_view::npos;
}

// `U+003D '='`
std::string shown(char c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  std::string out = cat("U+00", kDigits[byte >> 4u], kDigits[byte & 15u]);
  if (byte >= 0x20 && byte < 0x7f) out += cat(" '", c, "'");
  return out;
}

// One action: what stands between braces.
struct Action {
  Steps steps = {};
  bool is_range = false, is_end = false;
};

class Parser {
 public:
  explicit Parser(std::string_view input) : input_(input) {}

  bool at_end() const { return at_ >= input_.size(); }
  // Up to the next `{`, or to the end.
  std::string_view text();
  bool take_brace() { return take("{"); }
  // After a `{`, up to the `}`, which it takes, too.
  Result<Action> action();

 private:
  bool take(std::string_view prefix);
  Result<void> step(Action& out);
  Result<void> member(Action& out);
  Result<void> descent(Action& out);
  Result<void> number(Action& out);
  Result<void> word(Action& out);
  Result<void> quoted(Action& out, char quote);
  Result<void> brackets(Action& out);
  Result<void> filter(Action& out);
  Result<std::string_view> filter_text();

  std::string_view input_;
  std::size_t at_ = 0;
};

// Steps that stand inside others, as if they were an action of their own.
Result<Steps> nested(std::string_view text) {
  const std::string closed = cat(text, "}");
  MNET_TRY(auto&& action, Parser(closed).action());
  if (action.is_range || action.is_end) {
    return reason(cat("unrecognized identifier ", action.is_range ? "range" : "end"));
  }
  return std::move(action.steps);
}

std::string_view Parser::text() {
  const std::size_t brace = std::min(input_.find('{', at_), input_.size());
  const std::string_view out = input_.substr(at_, brace - at_);
  at_ = brace;
  return out;
}

bool Parser::take(std::string_view prefix) {
  if (!input_.substr(at_).starts_with(prefix)) return false;
  at_ += prefix.size();
  return true;
}

Result<Action> Parser::action() {
  Action out;
  while (!take("}")) {
    if (at_end() || is_end_of_line(input_[at_])) return reason("unclosed action");
    MNET_TRY_VOID(step(out));
  }
  return out;
}

Result<void> Parser::step(Action& out) {
  if (take("[?(")) return filter(out);
  if (take("..")) return descent(out);
  const char c = input_[at_];
  if (c == '+' || c == '-' || is_digit(c)) return number(out);
  if (is_word(c)) return word(out);
  ++at_;
  switch (c) {
    case ' ':
    case '@':  // the current object: it goes without saying
    case '$':
      return {};
    case '[':
      return brackets(out);
    case '"':
    case '\'':
      return quoted(out, c);
    case '.':
      return member(out);
    default:
      return reason(cat("unrecognized character in action: ", shown(c)));
  }
}

Result<void> Parser::member(Action& out) {
  const std::size_t begin = at_;
  std::string name;
  for (; !at_end() && !ends_name(input_[at_]); ++at_) {
    if (input_[at_] == '\\') ++at_;
    if (at_end()) break;
    name += input_[at_];
  }
  if (input_.substr(begin, at_ - begin) == "*") {
    out.steps.push_back({EveryStep{}});
  } else {
    out.steps.push_back({MemberStep{std::move(name)}});
  }
  return {};
}

Result<void> Parser::descent(Action& out) {
  const auto is_descent = [](const Step& step) {
    return std::holds_alternative<DescentStep>(step.what);
  };
  if (!out.steps.empty() && is_descent(out.steps.back())) {
    return reason("invalid multiple recursive descent");
  }
  out.steps.push_back({DescentStep{}});
  if (!at_end() && is_word(input_[at_])) return member(out);
  return {};
}

std::optional<json::Value> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (const auto integer = parse_integer<std::int64_t>(text)) return json::Value(*integer);
  double real = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), real);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  std::array<char, 32> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), real);
  return json::Value(json::Number::of_text(std::string(digits.data(), written.ptr)));
}

Result<void> Parser::number(Action& out) {
  const std::size_t begin = at_++;
  while (!at_end() && (input_[at_] == '.' || is_digit(input_[at_]))) ++at_;
  const std::string_view text = input_.substr(begin, at_ - begin);
  auto value = parse_number(text);
  if (!value) return reason(cat("cannot parse number ", text));
  out.steps.push_back({ConstantStep{*std::move(value)}});
  return {};
}

Result<void> Parser::word(Action& out) {
  const std::size_t begin = at_;
  while (!at_end() && !ends_name(input_[at_])) ++at_;
  const std::string_view text = input_.substr(begin, at_ - begin);
  if (text == "range") {
    out.is_range = true;
  } else if (text == "end") {
    out.is_end = true;
  } else if (text == "true" || text == "false") {
    out.steps.push_back({ConstantStep{text == "true"}});
  } else {
    return reason(cat("unrecognized identifier ", text));
  }
  return {};
}

// The value of `\n` and the like; none for an escape that does not exist.
std::optional<char> simple_escape(char c) {
  constexpr std::string_view kLetters = "abfnrtv\\\"'";
  constexpr std::string_view kValues = "\a\b\f\n\r\t\v\\\"'";
  const std::size_t found = kLetters.find(c);
  if (found == std::string_view::npos) return std::nullopt;
  return kValues[found];
}

// `41` of `\x41`, `00e9` of `\u00e9`.
std::optional<std::string> numeric_escape(char kind, std::string_view& rest) {
  const std::size_t length = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
  if (length == 0 || rest.size() < length) return std::nullopt;
  const auto value = parse_integer<std::uint32_t>(rest.substr(0, length), 16);
  if (!value) return std::nullopt;
  rest.remove_prefix(length);
  if (kind == 'x') return std::string(1, static_cast<char>(*value));
  std::string out;
  append_utf8(out, *value);
  return out;
}

std::optional<std::string> unquote(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c != '\\') {
      out += c;
      continue;
    }
    if (text.empty()) return std::nullopt;
    const char kind = text.front();
    text.remove_prefix(1);
    if (const auto simple = simple_escape(kind)) {
      out += *simple;
    } else if (const auto numeric = numeric_escape(kind, text)) {
      out += *numeric;
    } else {
      return std::nullopt;
    }
  }
  return out;
}

Result<void> Parser::quoted(Action& out, char quote) {
  const std::size_t begin = at_;
  for (;; ++at_) {
    if (at_end() || input_[at_] == '\n') return reason("unterminated quoted string");
    if (input_[at_] == quote && input_[at_ - 1] != '\\') break;
  }
  const std::string_view inside = input_.substr(begin, at_++ - begin);
  auto text = unquote(inside);
  if (!text) {
    return reason(cat("unquote string ", input_.substr(begin - 1, inside.size() + 2),
                      " error invalid syntax"));
  }
  out.steps.push_back({ConstantStep{*std::move(text)}});
  return {};
}

// An index of a slice: none for an empty text; an error for one that is not a number.
Result<std::optional<std::int64_t>> slice_index(std::string_view text, std::string_view whole) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (!std::ranges::all_of(digits, is_digit)) return reason(cat("invalid array index ", whole));
  if (text.empty()) return std::optional<std::int64_t>();
  const auto value = parse_integer<std::int64_t>(text);
  // So far beyond any list that its sum with a length must not overflow.
  constexpr std::int64_t kFar = std::int64_t{1} << 53u;
  if (!value || *value > kFar || *value < -kFar) {
    return reason(cat("array index ", text, " is not a number"));
  }
  return value;
}

Result<SliceStep> parse_slice(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() > 3) return reason(cat("invalid array index ", text));
  std::array<std::optional<std::int64_t>, 3> values;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    MNET_TRY(auto&& value, slice_index(parts[i], text));
    values[i] = value;
  }
  return SliceStep{values[0], values[1], values[2], parts.size() == 1};
}

bool is_quoted_name(std::string_view text) {
  return text.size() >= 2 && text.front() == '\'' && text.find('\'', 1) == text.size() - 1;
}

// The first `]` ends it, in quotes too.
Result<void> Parser::brackets(Action& out) {
  const std::size_t end = input_.find_first_of("]\n", at_);
  if (end == std::string_view::npos || input_[end] == '\n') return reason("unterminated array");
  std::string_view text = input_.substr(at_, end - at_);
  at_ = end + 1;
  if (text.find(',') != std::string_view::npos) {
    UnionStep step;
    for (const std::string_view part : split(text, ',')) {
      MNET_TRY(auto&& steps, nested(cat("[", trim(part), "]")));
      step.parts.push_back(std::move(steps));
    }
    out.steps.push_back({std::move(step)});
    return {};
  }
  if (is_quoted_name(text)) {
    MNET_TRY(auto&& steps, nested(cat(".", text.substr(1, text.size() - 2))));
    std::ranges::move(steps, std::back_inserter(out.steps));
    return {};
  }
  MNET_TRY(auto&& slice, parse_slice(text == "*" ? ":" : text));
  out.steps.push_back({slice});
  return {};
}

// The text between `[?(` and `)]`; both are consumed. A `)` in quotes does not end it; only one
// pair of quotes is recognised.
Result<std::string_view> Parser::filter_text() {
  const std::size_t begin = at_;
  char quote = 0;
  bool is_closed = false;
  for (;; ++at_) {
    if (at_end() || input_[at_] == '\n') return reason("unterminated filter");
    const char c = input_[at_];
    if ((c == '"' || c == '\'') && quote == 0) {
      quote = c;
    } else if (c == quote && input_[at_ - 1] != '\\') {
      is_closed = true;
    } else if (c == ')' && (quote == 0 || is_closed)) {
      break;
    }
  }
  const std::string_view text = input_.substr(begin, at_++ - begin);
  if (!take("]")) return reason("unclosed array expect ]");
  return text;
}

std::optional<Comparison> parse_comparison(std::string_view text) {
  constexpr std::pair<std::string_view, Comparison> kAll[] = {
      {"==", Comparison::kEqual},  {"!=", Comparison::kDifferent}, {"<", Comparison::kLess},
      {"<=", Comparison::kAtMost}, {">", Comparison::kGreater},    {">=", Comparison::kAtLeast}};
  for (const auto& [sign, comparison] : kAll) {
    if (text == sign) return comparison;
  }
  return std::nullopt;
}

Result<void> Parser::filter(Action& out) {
  MNET_TRY(auto&& text, filter_text());
  constexpr std::string_view kSigns = "!<>=";
  const std::size_t sign = std::min(text.find_first_of(kSigns), text.size());
  // Something always follows the operator: where nothing does, the last of its own signs.
  const std::size_t after = std::min(text.find_first_not_of(kSigns, sign), text.size() - 1);
  const bool compares = sign != 0 && sign < after;
  FilterStep step;
  MNET_TRY(auto&& left, nested(compares ? text.substr(0, sign) : text));
  step.left = std::move(left);
  if (compares) {
    MNET_TRY(auto&& right, nested(text.substr(after)));
    step.right = std::move(right);
    const std::string_view written = text.substr(sign, after - sign);
    const auto comparison = parse_comparison(written);
    if (!comparison) return reason(cat("unrecognized filter operator ", written));
    step.comparison = *comparison;
  }
  out.steps.push_back({std::move(step)});
  return {};
}

Result<std::vector<Action>> parse_actions(std::string_view text) {
  std::vector<Action> out;
  Parser parser(text);
  while (!parser.at_end()) {
    const std::string_view between = parser.text();
    if (!between.empty()) out.push_back({.steps = {{ConstantStep{between}}}});
    if (!parser.take_brace()) break;
    MNET_TRY(auto&& action, parser.action());
    out.push_back(std::move(action));
  }
  return out;
}

// From `*at` on until the end of the range, or of all: a missing `end` is not an error.
Result<std::vector<Part>> nest(std::vector<Action>& actions, std::size_t& at, int depth) {
  std::vector<Part> parts;
  while (at < actions.size()) {
    Action& action = actions[at++];
    if (action.is_end) {
      if (depth == 0) return reason("not in range, nothing to end");
      break;
    }
    Part part{.steps = std::move(action.steps), .is_range = action.is_range};
    if (part.is_range) {
      if (depth == json::kMaxDepth) return reason("too many ranges inside each other");
      MNET_TRY(auto&& body, nest(actions, at, depth + 1));
      part.body = std::move(body);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace

Result<JsonPath> JsonPath::parse(std::string_view text) {
  const auto refused = [&](std::string_view why) {
    return reason(cat("error parsing jsonpath ", text, ", ", why));
  };
  if (text.empty()) text = "{}";
  if (text.find('{') == std::string_view::npos) {
    return refused(cat("it has no action and would never change: did you mean {",
                       text.starts_with('.') ? "" : ".", text, "}?"));
  }
  auto actions = parse_actions(text);
  if (!actions) return refused(actions.error().text());
  std::size_t at = 0;
  auto parts = nest(*actions, at, 0);
  if (!parts) return refused(parts.error().text());
  return JsonPath(std::make_shared<const Template>(Template{*std::move(parts)}));
}

}  // namespace mnet::jsonpath
