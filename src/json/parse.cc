#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/utf8.h"
#include "json/json.h"

namespace mnet::json {
namespace {

// Recursive descent that counts its depth, so that hostile nesting ends in an error and not in a
// stack overflow. Each step either advances or records the first failure.
class Parser {
 public:
  Parser(std::string_view text, int max_depth, bool is_unambiguous = false,
         std::span<const std::string_view> skipped = {},
         std::size_t most_values = std::numeric_limits<std::size_t>::max())
      : text_(text),
        depth_left_(max_depth),
        values_left_(most_values),
        is_unambiguous_(is_unambiguous),
        skipped_(skipped) {}

  Result<Value> document() {
    Value value;
    skip_space();
    if (!parse_value(value)) return failure();
    skip_space();
    if (at_ != text_.size()) {
      fail("unexpected text after the value");
      return failure();
    }
    return value;
  }

 private:
  bool fail(std::string_view why) {
    if (why_.empty()) why_ = why;
    return false;
  }

  // Notes on the way out in which member or element the failure is.
  bool leave(std::string step) {
    if (is_repeated_) way_.push_back(std::move(step));
    return false;
  }

  Error failure() const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::size_t newline = before.rfind('\n');
    const std::size_t column = newline == std::string_view::npos ? at_ + 1 : at_ - newline;
    return Error(Errc::kInvalid, cat("line ", line, ", column ", column, ": ", path(), why_));
  }

  // `plugins[0].ipam: `; cut off if it is very long, as keys are foreign text of any length.
  std::string path() const {
    if (way_.empty()) return {};
    std::string path;
    for (auto step = way_.rbegin(); step != way_.rend() && path.size() <= kShown; ++step) {
      const bool is_key = !step->starts_with('[') && !path.empty();
      path += cat(is_key ? "." : "", *step);
    }
    return cat(excerpt(path), ": ");
  }

  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }

  void skip_space() {
    while (!at_end() && (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r'))
      ++at_;
  }

  bool take_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return fail("expected a value");
    at_ += word.size();
    return true;
  }

  bool parse_value(Value& out) {
    if (at_end()) return fail("unexpected end of the text");
    if (values_left_ == 0) return fail("too many values");
    --values_left_;
    switch (peek()) {
      case '{':
        return nested([&] { return parse_members(out); });
      case '[':
        return nested([&] { return parse_items(out); });
      case '"': {
        std::string text;
        if (!parse_string(text)) return false;
        out = std::move(text);
        return true;
      }
      case 't':
        out = true;
        return take_word("true");
      case 'f':
        out = false;
        return take_word("false");
      case 'n':
        out = nullptr;
        return take_word("null");
      default:
        return parse_number(out);
    }
  }

  template <typename Body>
  bool nested(Body body) {
    if (depth_left_ == 0) return fail("nested too deeply");
    --depth_left_;
    ++at_;
    const bool good = body();
    ++depth_left_;
    return good;
  }

  bool parse_items(Value& out) {
    Array items;
    skip_space();
    while (peek() != ']') {
      if (!items.empty()) {
        if (peek() != ',')
          return fail(at_end() ? "unexpected end of the text" : "expected ',' or ']'");
        ++at_;
        skip_space();
      }
      const std::size_t index = items.size();
      if (!parse_value(items.emplace_back())) return leave(cat("[", index, "]"));
      skip_space();
    }
    ++at_;
    out = std::move(items);
    return true;
  }

  bool parse_members(Value& out) {
    Object members;
    bool is_first = true;
    skip_space();
    while (peek() != '}') {
      if (!std::exchange(is_first, false)) {
        if (peek() != ',')
          return fail(at_end() ? "unexpected end of the text" : "expected ',' or '}'");
        ++at_;
        skip_space();
      }
      std::string key;
      if (peek() != '"')
        return fail(at_end() ? "unexpected end of the text" : "expected a member's name");
      if (!parse_string(key)) return false;
      skip_space();
      if (peek() != ':') return fail("expected ':'");
      ++at_;
      skip_space();
      if (std::ranges::find(skipped_, key) != skipped_.end()) {
        if (!skip_value()) return false;
        skip_space();
        continue;
      }
      Value value;
      if (!parse_value(value)) return leave(key.substr(0, kShown + 1));
      members.append(std::move(key), std::move(value));
      skip_space();
    }
    ++at_;
    return finish(std::move(members), out);
  }

  // Brackets outside of strings show where it ends; what is in it is not looked at.
  bool skip_value() {
    Value ignored;
    if (peek() != '{' && peek() != '[') return parse_value(ignored);
    std::size_t depth = 0;
    do {
      const char c = peek();
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      if (c == '"') skip_string();
      if (at_end()) return fail("unexpected end of the text");
      ++at_;
    } while (depth > 0);
    return true;
  }

  // From the quote that begins it to the one that ends it.
  void skip_string() {
    for (++at_; !at_end() && peek() != '"'; ++at_) {
      if (peek() == '\\' && at_ + 1 < text_.size()) ++at_;
    }
  }

  // The member before `later` with the same key; nullptr if there is none. While there are few
  // members, comparing them all is the fastest way.
  class Earlier {
   public:
    const Member* of(const Object& object, const Member& later) {
      constexpr std::size_t kFew = 16;
      if (object.size() > kFew) {
        return std::exchange(seen_[later.first], &later);
      }
      for (const Member& member : object) {
        if (&member == &later) break;
        if (member.first == later.first) return &member;
      }
      return nullptr;
    }

   private:
    std::unordered_map<std::string_view, const Member*> seen_;
  };

  static bool is_integer(const Value& value) {
    return value.as_number() != nullptr && value.as_number()->as_int64();
  }

  // Whether the later of two values of one key counts for every reader. A reader of
  // integers fails at an earlier number that is not an integer.
  static bool replaces(const Value& later, const Value& earlier) {
    if (is_integer(later)) return is_integer(earlier);
    return (later.as_string() != nullptr || later.as_bool() != nullptr) &&
           later.kind() == earlier.kind();
  }

  bool finish(Object members, Value& out) {
    Earlier seen;
    bool is_repeated = false;
    for (const Member& member : members) {
      const Member* earlier = seen.of(members, member);
      if (earlier == nullptr) continue;
      is_repeated = true;
      if (is_unambiguous_ && !replaces(member.second, earlier->second)) {
        is_repeated_ = true;
        return fail(cat("the key ", go_quoted(member.first), " is repeated"));
      }
    }
    out = is_repeated ? without_repeated(std::move(members)) : std::move(members);
    return true;
  }

  // Of equal keys the last one stays, in its place.
  static Object without_repeated(Object object) {
    std::unordered_set<std::string_view> seen;
    std::vector<Member*> kept;
    for (auto member = object.end(); member != object.begin();) {
      --member;
      if (seen.insert(member->first).second) kept.push_back(&*member);
    }
    Object out;
    for (auto member = kept.rbegin(); member != kept.rend(); ++member) {
      out.append(std::move((*member)->first), std::move((*member)->second));
    }
    return out;
  }

  bool parse_number(Value& out) {
    const std::size_t start = at_;
    if (peek() == '-') ++at_;
    if (peek() == '0') {
      ++at_;
    } else if (!take_digits()) {
      at_ = start;
      return fail("expected a value");
    }
    if (peek() == '.') {
      ++at_;
      if (!take_digits()) return fail("expected a digit");
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!take_digits()) return fail("expected a digit");
    }
    out = Number::of_text(std::string(text_.substr(start, at_ - start)));
    return true;
  }

  bool take_digits() {
    const std::size_t start = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ > start;
  }

  bool parse_string(std::string& out) {
    ++at_;
    for (;;) {
      if (at_end()) return fail("unexpected end of the text");
      const auto byte = static_cast<unsigned char>(peek());
      if (byte == '"') {
        ++at_;
        return true;
      }
      if (byte == '\\') {
        if (!parse_escape(out)) return false;
      } else if (byte < 0x20) {
        return fail("a control character in a string");
      } else if (byte < 0x80) {
        take_plain(out);
      } else {
        const CodePoint c = decode_utf8(text_.substr(at_));
        append_utf8(out, c.value);
        at_ += c.bytes;
      }
    }
  }

  // Takes all that needs no escapes in one piece: nearly all of nearly all strings.
  void take_plain(std::string& out) {
    const std::size_t start = at_;
    const auto is_plain = [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
    };
    while (!at_end() && is_plain(text_[at_])) ++at_;
    out.append(text_, start, at_ - start);
  }

  bool parse_escape(std::string& out) {
    ++at_;
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (at_end()) return fail("unexpected end of the text");
    const std::size_t name = kNames.find(peek());
    if (name != std::string_view::npos) {
      out += kMeanings[name];
      ++at_;
      return true;
    }
    char32_t first = 0;
    if (peek() != 'u' || !parse_hex(first)) return fail("unknown escape in a string");
    if (first >= 0xD800 && first <= 0xDBFF && text_.substr(at_).starts_with("\\u")) {
      const std::size_t before_second = ++at_;
      char32_t second = 0;
      if (!parse_hex(second)) return fail("unknown escape in a string");
      if (second >= 0xDC00 && second <= 0xDFFF) {
        append_utf8(out, 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00));
        return true;
      }
      at_ = before_second - 1;  // not the other half: it is read again as an escape of its own
    }
    const bool lone = first >= 0xD800 && first <= 0xDFFF;
    append_utf8(out, lone ? kReplacement : first);
    return true;
  }

  // Starts at the 'u' and ends after its four digits.
  bool parse_hex(char32_t& out) {
    ++at_;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      if (c >= '0' && c <= '9') {
        out = out * 16 + static_cast<char32_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        out = out * 16 + static_cast<char32_t>(c - 'a' + 10);
      } else if (c >= 'A' && c <= 'F') {
        out = out * 16 + static_cast<char32_t>(c - 'A' + 10);
      } else {
        return false;
      }
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_left_;
  std::size_t values_left_;
  bool is_unambiguous_;           // readers must not differ in what a repeated key means
  bool is_repeated_ = false;      // a key is, and readers differ: that is the failure
  std::vector<std::string> way_;  // to the object that has it, from the inside out
  std::span<const std::string_view> skipped_;  // names of members
  std::string why_;
};

Result<Object> object_in(Result<Value> value) {
  if (!value) return std::move(value).error();
  Object* object = value->as_object();
  if (object != nullptr) return std::move(*object);
  return Error(Errc::kInvalid, cat("expected an object, got ", value->kind()));
}

}  // namespace

Result<Value> parse(std::string_view text, int max_depth) {
  return Parser(text, max_depth).document();
}

Result<Value> parse_unambiguous(std::string_view text) {
  return Parser(text, kMaxDepth, true).document();
}

Result<Object> parse_object(std::string_view text, int max_depth) {
  return object_in(parse(text, max_depth));
}

Result<Object> parse_object_without(std::span<const std::string_view> names, std::string_view text,
                                    std::size_t most_values) {
  return object_in(Parser(text, kMaxDepth, false, names, most_values).document());
}

}  // namespace mnet::json
