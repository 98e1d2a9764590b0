#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "json/json.h"

namespace mnet::json {
namespace {

bool is_risky_in_html(char32_t c) {
  return c == '<' || c == '>' || c == '&' || c == 0x2028 || c == 0x2029;
}

class Writer {
 public:
  explicit Writer(Style style) : style_(style) { out_.reserve(512); }

  void write(const Value& value, int depth = 0) {
    if (const Object* object = value.as_object()) {
      write(*object, depth);
    } else if (const Array* array = value.as_array()) {
      write(*array, depth);
    } else if (const std::string* text = value.as_string()) {
      write_string(*text);
    } else if (const Number* number = value.as_number()) {
      out_ += number->text();
    } else if (const bool* flag = value.as_bool()) {
      out_ += *flag ? "true" : "false";
    } else {
      out_ += "null";
    }
  }

  void write(const Array& items, int depth = 0) {
    if (items.empty()) {
      out_ += "[]";
      return;
    }
    out_ += '[';
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_ += ',';
      new_line(depth + 1);
      write(items[i], depth + 1);
    }
    new_line(depth);
    out_ += ']';
  }

  void write(const Object& object, int depth = 0) {
    if (object.empty()) {
      out_ += "{}";
      return;
    }
    out_ += '{';
    if (style_.sorted) {
      write_sorted(object, depth);
    } else {
      for (bool is_first = true; const Member& member : object) {
        write_member(member, std::exchange(is_first, false), depth);
      }
    }
    new_line(depth);
    out_ += '}';
  }

  std::string take() && { return std::move(out_); }

 private:
  void new_line(int depth) {
    if (style_.indent == 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(style_.indent) * static_cast<std::size_t>(depth), ' ');
  }

  void write_sorted(const Object& object, int depth) {
    std::vector<const Member*> members;
    members.reserve(object.size());
    for (const Member& member : object) members.push_back(&member);
    std::ranges::sort(members, {},
                      [](const Member* member) -> const std::string& { return member->first; });
    for (bool is_first = true; const Member* member : members) {
      write_member(*member, std::exchange(is_first, false), depth);
    }
  }

  void write_member(const Member& member, bool is_first, int depth) {
    if (!is_first) out_ += ',';
    new_line(depth + 1);
    write_string(member.first);
    out_ += style_.indent == 0 ? ":" : ": ";
    write(member.second, depth + 1);
  }

  void write_escape(char32_t c) {
    constexpr std::string_view kHex = "0123456789abcdef";
    out_ += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out_ += kHex[(c >> shift) & 0xF];
  }

  // The length of the prefix that needs no escapes: nearly all of nearly all strings.
  std::size_t plain_size(std::string_view text) const {
    const auto is_plain = [&](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\' &&
             !(style_.escape_html && is_risky_in_html(byte));
    };
    return static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
  }

  void write_string(std::string_view text) {
    out_ += '"';
    for (;;) {
      const std::size_t plain = plain_size(text);
      out_ += text.substr(0, plain);
      text.remove_prefix(plain);
      if (text.empty()) break;
      const CodePoint c = decode_utf8(text);
      const char32_t v = c.value;
      if (v == '"' || v == '\\') {
        out_ += '\\';
        out_ += static_cast<char>(v);
      } else if (v == '\n' || v == '\r' || v == '\t') {
        out_ += v == '\n' ? "\\n" : v == '\r' ? "\\r" : "\\t";
      } else if (v < 0x20 || (style_.escape_html && is_risky_in_html(v))) {
        write_escape(v);
      } else {
        append_utf8(out_, v);
      }
      text.remove_prefix(c.bytes);
    }
    out_ += '"';
  }

  Style style_;
  std::string out_;
};

template <typename What>
std::string text_of(const What& what, Style style) {
  Writer writer(style);
  writer.write(what);
  return std::move(writer).take();
}

}  // namespace

std::string dump(const Value& value, Style style) { return text_of(value, style); }
std::string dump(const Object& object, Style style) { return text_of(object, style); }
std::string dump(const Array& array, Style style) { return text_of(array, style); }

}  // namespace mnet::json
