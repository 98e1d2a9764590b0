#include "lint/text.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"
#include "lint/finding.h"
#include "yaml/places.h"

namespace mnet::lint {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

using Offsets = std::optional<std::vector<std::size_t>>;

// A literal block: each line of the value is the end of a line of the file.
Offsets align_literal(std::string_view file, std::size_t start, std::string_view value) {
  std::vector<std::size_t> offsets;
  std::size_t at = file.find('\n', start);
  for (const std::string_view line : split(value, '\n')) {
    if (at == std::string_view::npos) break;
    const std::size_t begin = at + 1;
    at = file.find('\n', begin);
    std::string_view there = file.substr(begin, at == std::string_view::npos ? at : at - begin);
    if (there.ends_with('\r')) there.remove_suffix(1);
    if (!there.ends_with(line)) return std::nullopt;
    const std::size_t first = begin + there.size() - line.size();
    for (std::size_t i = 0; i <= line.size(); ++i) offsets.push_back(first + i);
  }
  if (offsets.size() < value.size()) return std::nullopt;
  return offsets;
}

// Other scalars: byte by byte; a line break in the file is a blank or a newline of the value.
class Alignment {
 public:
  Alignment(std::string_view file, std::size_t start, std::string_view value)
      : file_(file), value_(value), at_(start) {
    if (at_ < file_.size() && (file_[at_] == '"' || file_[at_] == '\'')) quote_ = file_[at_++];
    if (at_ < file_.size() && quote_ == 0 && file_[at_] == '>') skip_header();
  }

  Offsets run() {
    std::vector<std::size_t> offsets;
    offsets.reserve(value_.size());
    while (offsets.size() < value_.size()) {
      if (at_ >= file_.size()) return std::nullopt;
      if (!step(value_[offsets.size()], offsets)) return std::nullopt;
    }
    return offsets;
  }

 private:
  void skip_header() {
    const std::size_t line = file_.find('\n', at_);
    at_ = line == std::string_view::npos ? file_.size() : file_.find_first_not_of(" \t", line + 1);
  }

  bool step(char wanted, std::vector<std::size_t>& offsets) {
    const std::size_t end = end_of_break();
    if (end > at_) {
      if (wanted != ' ' && wanted != '\n') return false;
      for (std::size_t i = offsets.size(); i < value_.size() && value_[i] == wanted; ++i) {
        offsets.push_back(at_);
        if (wanted == ' ') break;
      }
      at_ = end;
      return true;
    }
    const std::size_t length = length_of(wanted);
    if (length == 0) return false;
    offsets.push_back(at_);
    at_ += length;
    return true;
  }

  // Where the white space from here on ends, if there is a line break in it.
  std::size_t end_of_break() const {
    std::size_t end = at_;
    bool has_break = false;
    while (end < file_.size() && is_space(file_[end])) has_break |= file_[end++] == '\n';
    return has_break ? end : at_;
  }

  // How many bytes of the file stand for this byte of the value; 0: it is not here.
  std::size_t length_of(char wanted) const {
    const char here = file_[at_];
    const char next = at_ + 1 < file_.size() ? file_[at_ + 1] : '\0';
    if (quote_ == '\'' && here == '\'') return next == '\'' && wanted == '\'' ? 2 : 0;
    if (quote_ == '"' && here == '\\') {
      const char meant = next == 'n' ? '\n' : next == 't' ? '\t' : next;
      return meant == wanted ? 2 : 0;
    }
    return here == wanted ? 1 : 0;
  }

  std::string_view file_, value_;
  std::size_t at_;
  char quote_ = 0;
};

Offsets align(std::string_view file, std::size_t start, std::string_view value) {
  if (start >= file.size()) return std::nullopt;
  if (file[start] == '|') return align_literal(file, start, value);
  return Alignment(file, start, value).run();
}

yaml::Mark mark_at(std::string_view file, std::size_t offset) {
  const std::string_view before = file.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? offset + 1 : offset - newline;
  return {1 + static_cast<int>(std::ranges::count(before, '\n')), static_cast<int>(column), offset};
}

bool take_number(std::string_view& text, std::string_view word, int& out) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (fault != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

// Of line and column in a text; none if it has no such line.
std::optional<std::size_t> offset_of(std::string_view text, int line, int column) {
  std::size_t at = 0;
  for (; line > 1; --line) {
    at = text.find('\n', at);
    if (at == std::string_view::npos) return std::nullopt;
    ++at;
  }
  return std::min(text.size(), at + static_cast<std::size_t>(std::max(column, 1) - 1));
}

// How our parsers name a place, alone or after some context: `reading x: line 3, column 7: why`.
struct NamedPlace {
  std::size_t begin = 0, end = 0;  // of the words in the text
  int line = 0, column = 0;
};

std::optional<NamedPlace> find_place(std::string_view error) {
  NamedPlace place;
  place.begin = error.find("line ");
  if (place.begin == std::string_view::npos) return std::nullopt;
  std::string_view rest = error.substr(place.begin);
  if (!take_number(rest, "line ", place.line) || !take_number(rest, ", column ", place.column) ||
      !rest.starts_with(": ")) {
    return std::nullopt;
  }
  place.end = error.size() - rest.size() + 2;
  return place;
}

bool is_plain_key(std::string_view key) {
  return !key.empty() && key.find_first_of("./[]\" ") == std::string_view::npos;
}

std::string unescaped(std::string_view step) {
  std::string key;
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (step[i] == '~' && i + 1 < step.size()) {
      key += step[++i] == '1' ? '/' : '~';
    } else {
      key += step[i];
    }
  }
  return key;
}

}  // namespace

std::string path_text(std::string_view pointer, bool leading) {
  std::string path;
  if (pointer.empty()) return path;
  for (const std::string_view step : split(pointer.substr(1), '/')) {
    const std::string key = unescaped(step);
    const bool is_index = !key.empty() && key.find_first_not_of("0123456789") == std::string::npos;
    if (is_index) {
      path += cat("[", key, "]");
    } else if (is_plain_key(key)) {
      path += cat(path.empty() && !leading ? "" : ".", excerpt(key));
    } else {
      path += cat("[", go_quoted(key), "]");
    }
  }
  return path;
}

std::string pointer_of(std::string_view path) {
  std::string pointer, key;
  const auto flush = [&] {
    if (!key.empty()) pointer += yaml::pointer_step(key);
    key.clear();
  };
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::size_t end = path.find("\"]", i);
    if (path.substr(i).starts_with("[\"") && end != std::string_view::npos) {
      flush();
      pointer += yaml::pointer_step(path.substr(i + 2, end - i - 2));
      i = end + 1;
    } else if (path[i] == '.' || path[i] == '[' || path[i] == ']') {
      flush();
    } else {
      key += path[i];
    }
  }
  flush();
  return pointer;
}

Text::Text(FilePtr file) : file_(std::move(file)), text_(file_->text), is_whole_(true) {}

Text::Text(FilePtr file, const yaml::Mark& start, std::string field, std::string value)
    : file_(std::move(file)),
      field_(std::move(field)),
      text_(std::move(value)),
      start_(start),
      offsets_(align(file_->text, start.offset, text_).value_or(std::vector<std::size_t>())) {}

bool Text::is_exact() const { return is_whole_ || !offsets_.empty(); }

Spot Text::spot_at(std::size_t offset) const {
  if (!is_exact()) return {file_->name, start_.line, start_.column, field_, {}};
  // An error at the end of the text is shown after its last word, not on the line below.
  offset = std::min(offset, text_.find_last_not_of(" \t\r\n") + 1);
  if (!is_whole_) {
    offset = offset < offsets_.size() ? offsets_[offset] : offsets_.back() + 1;
  }
  const yaml::Mark mark = mark_at(file_->text, offset);
  return {file_->name, mark.line, mark.column, field_, {}};
}

const yaml::Places& Text::places() const {
  if (!places_) {
    auto found = yaml::find_places(text_);
    places_ = found && found->size() == 1 ? std::move(found->front()) : yaml::Places();
  }
  return *places_;
}

Spot Text::spot(std::string_view pointer, Part part) const {
  const yaml::Place place = yaml::place_of(places(), pointer);
  Spot spot = spot_at(part == Part::kKey ? place.key.offset : place.value.offset);
  spot.path = path_text(pointer, true);
  return spot;
}

std::string Text::without_place(std::string_view error) const {
  const auto place = is_exact() ? find_place(error) : std::nullopt;
  if (!place) return std::string(error);
  return cat(error.substr(0, place->begin), error.substr(place->end));
}

Spot Text::spot_of_error(std::string_view error) const {
  if (const auto place = find_place(error)) {
    if (const auto offset = offset_of(text_, place->line, place->column)) return spot_at(*offset);
  }
  for (std::string_view rest = error; !rest.empty();) {
    const std::size_t end = rest.find_first_of(": ");
    const std::string pointer = pointer_of(rest.substr(0, end));
    if (!pointer.empty() && places().contains(pointer)) return spot(pointer);
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return spot();
}

Spot Document::spot(std::string_view pointer, Part part) const {
  const yaml::Place place = yaml::place_of(*places_, cat(pointer_, pointer));
  const yaml::Mark& mark = part == Part::kKey ? place.key : place.value;
  return {file_->name, mark.line, mark.column, path_text(pointer, false), {}};
}

Text Document::text(std::string_view pointer, const std::string& value) const {
  const yaml::Place place = yaml::place_of(*places_, cat(pointer_, pointer));
  return {file_, place.value, path_text(pointer, false), value};
}

}  // namespace mnet::lint
