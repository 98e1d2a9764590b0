// Text inside files: a whole file, or the text of a member of a manifest (`spec.config`, an
// annotation). Maps places in the text to places in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"
#include "lint/finding.h"
#include "yaml/places.h"

namespace mnet::lint {

struct File {
  std::string name;
  std::string text;
};
using FilePtr = std::shared_ptr<const File>;

// Which part of a member a finding is about.
enum class Part : std::uint8_t { kKey, kValue };

// `spec.config`, `metadata.annotations["a.b/c"]`, of a JSON pointer; with `.` before the first key
// if `leading`.
std::string path_text(std::string_view pointer, bool leading);

// The pointer of a path as our parsers' messages write it: `plugins[0].ipam.type`, `a["b.c/d"]`.
std::string pointer_of(std::string_view path);

class Text {
 public:
  // The whole file.
  explicit Text(FilePtr file);
  // A member's text, whose value begins at `start` in the file.
  Text(FilePtr file, const yaml::Mark& start, std::string field, std::string value);

  const std::string& text() const { return text_; }

  // The start of the text.
  Spot spot() const { return spot_at(0); }
  // Of a value in it, by JSON pointer; the text must be JSON. One that has no place of its own
  // gets that of the value which contains it.
  Spot spot(std::string_view pointer, Part part = Part::kValue) const;
  // The place of a parser's error, whose text may begin with `line 3, column 7: ` or name a path;
  // else the start.
  Spot spot_of_error(std::string_view error) const;
  // The error without `line 3, column 7: ` if the spot shows that.
  std::string without_place(std::string_view error) const;
  // The place of a byte of the text.
  Spot spot_at(std::size_t offset) const;

 private:
  const yaml::Places& places() const;
  bool is_exact() const;  // whether the place of each byte is known

  FilePtr file_;
  std::string field_;
  std::string text_;
  yaml::Mark start_;
  bool is_whole_ = false;
  std::vector<std::size_t> offsets_;  // in the file, of each byte; empty: not known
  mutable std::optional<yaml::Places> places_;
};

// One object of a manifest, with the places of its values.
class Document {
 public:
  Document(FilePtr file, json::Value value, std::shared_ptr<const yaml::Places> places,
           std::string pointer = {})
      : file_(std::move(file)),
        value_(std::move(value)),
        places_(std::move(places)),
        pointer_(std::move(pointer)) {}

  const json::Value& value() const { return value_; }
  Spot spot(std::string_view pointer, Part part = Part::kValue) const;
  // The text of the string at that pointer.
  Text text(std::string_view pointer, const std::string& value) const;
  // An element of a list of objects.
  Document inside(std::string_view pointer, json::Value value) const {
    return {file_, std::move(value), places_, pointer_ + std::string(pointer)};
  }

 private:
  FilePtr file_;
  json::Value value_;
  std::shared_ptr<const yaml::Places> places_;
  std::string pointer_;  // of the object in its YAML document
};

}  // namespace mnet::lint
