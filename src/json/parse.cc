#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "base/utf8.h"
#include "json/json.h"

namespace mnet::json {
namespace {

// Recursive descent that counts its depth, so that hostile nesting ends in an error and not in a
// stack overflow. Each step either advances or records the first failure.
class Parser {
 public:
  Parser(std::string_view text, int max_depth) : text_(text), depth_left_(max_depth) {}

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

  Error failure() const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::size_t newline = before.rfind('\n');
    const std::size_t column = newline == std::string_view::npos ? at_ + 1 : at_ - newline;
    return Error(Errc::kInvalid, cat("line ", line, ", column ", column, ": ", why_));
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
      if (!parse_value(items.emplace_back())) return false;
      skip_space();
    }
    ++at_;
    out = std::move(items);
    return true;
  }

  bool parse_members(Value& out) {
    MemberList members;
    skip_space();
    while (peek() != '}') {
      if (!members.empty()) {
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
      Value value;
      if (!parse_value(value)) return false;
      members.set(std::move(key), std::move(value));
      skip_space();
    }
    ++at_;
    out = std::move(members).object();
    return true;
  }

  // Object::set looks at every member, which takes quadratic time for an object with many members.
  // While there are few, it is the fastest way.
  class MemberList {
   public:
    bool empty() const { return object_.empty(); }
    void set(std::string key, Value value) {
      if (object_.size() < kFew) {
        object_.set(std::move(key), std::move(value));
        return;
      }
      if (seen_.empty()) note_all();
      const auto [place, is_new] = seen_.emplace(key, object_.size());
      if (is_new) {
        object_.append(std::move(key), std::move(value));
      } else {
        (object_.begin() + static_cast<std::ptrdiff_t>(place->second))->second = std::move(value);
      }
    }
    Object object() && { return std::move(object_); }

   private:
    static constexpr std::size_t kFew = 16;

    void note_all() {
      for (std::size_t i = 0; const Member& member : object_) seen_.emplace(member.first, i++);
    }

    Object object_;
    std::unordered_map<std::string, std::size_t> seen_;
  };

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
  std::string why_;
};

}  // namespace

Result<Value> parse(std::string_view text, int max_depth) {
  return Parser(text, max_depth).document();
}

Result<Object> parse_object(std::string_view text, int max_depth) {
  MNET_TRY(auto&& value, parse(text, max_depth));
  Object* object = value.as_object();
  if (object == nullptr) {
    return Error(Errc::kInvalid, cat("expected an object, got ", value.kind()));
  }
  return std::move(*object);
}

}  // namespace mnet::json
