#include "cni_node/template.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/types.h"
#include "cni_node/names.h"
#include "json/at.h"
#include "json/json.h"

namespace mnet::cni_node {
namespace {

constexpr std::string_view kMark = "__";
constexpr std::size_t kMaxExpanded = 64u << 20;  // many pointers to one file make much of little

// The name of the pointer that begins at `at`, where a mark is: the shortest possible one.
std::optional<std::string_view> pointer_at(std::string_view line, std::size_t at) {
  const std::size_t begin = at + kMark.size();
  const std::size_t end = line.find(kMark, begin + 1);
  if (begin >= line.size() || end == std::string_view::npos) return std::nullopt;
  const std::string_view name = line.substr(begin, end - begin);
  if (!is_valid_name(name) || name.find(kMark) != std::string_view::npos) return std::nullopt;
  return name;
}

std::string_view without_blanks(std::string_view line) { return trim(line, " \t\r"); }

// The name, if the line is one pointer and nothing else.
std::optional<std::string_view> whole_line_pointer(std::string_view line) {
  const std::string_view word = without_blanks(line);
  if (!word.starts_with(kMark)) return std::nullopt;
  const auto name = pointer_at(word, 0);
  if (!name || name->size() + 2 * kMark.size() != word.size()) return std::nullopt;
  return name;
}

// Pieces of a template in their order: text as it is, or the name of a pointer.
struct Piece {
  std::string_view text = {};
  std::string_view pointer = {};
  bool is_whole_line = false;
};

void append_inside(std::string_view line, std::vector<Piece>& out) {
  std::size_t begin = 0, at = 0;
  while ((at = line.find(kMark, at)) != std::string_view::npos) {
    const auto name = pointer_at(line, at);
    if (!name || !has_cni_suffix(*name)) {
      ++at;
      continue;
    }
    out.push_back({.text = line.substr(begin, at - begin)});
    out.push_back({.pointer = *name});
    at += name->size() + 2 * kMark.size();
    begin = at;
  }
  out.push_back({.text = line.substr(begin)});
}

std::vector<Piece> pieces_of(std::string_view text) {
  std::vector<Piece> out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (const auto name = whole_line_pointer(line)) {
      out.push_back({.pointer = *name, .is_whole_line = true});
    } else {
      append_inside(line, out);
      out.push_back({.text = "\n"});
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return out;
}

const std::string* type_of(const json::Object& config) {
  if (const json::Value* type = config.find("type")) return type->as_string();
  const json::Object* first = json::first_object_of(config.find("plugins"));
  return first == nullptr ? nullptr : json::as_string(first->find("type"));
}

}  // namespace

bool has_cni_suffix(std::string_view name) {
  return name.ends_with(".conf") || name.ends_with(".conflist") || name.ends_with(".json");
}

bool is_multus(std::string_view config) {
  const auto object = json::parse_object(config);
  const std::string* type = object ? type_of(*object) : nullptr;
  return type != nullptr && cni::is_own_type(*type);
}

std::vector<std::string> pointers_in(std::string_view text) {
  std::vector<std::string> out;
  for (const Piece& piece : pieces_of(text)) {
    if (piece.pointer.empty() || std::ranges::find(out, piece.pointer) != out.end()) continue;
    out.emplace_back(piece.pointer);
  }
  return out;
}

Result<std::string> expand_pointers(std::string_view text, const ContentOf& content) {
  if (text.find('\0') != std::string_view::npos) {
    return Error(Errc::kInvalid, "the template has a NUL byte");
  }
  std::string out;
  for (const Piece& piece : pieces_of(text)) {
    out += piece.text;
    if (piece.pointer.empty()) continue;
    MNET_TRY(auto&& inserted, content(std::string(piece.pointer)));
    while (inserted.ends_with('\n')) inserted.pop_back();
    out += inserted;
    if (piece.is_whole_line) out += '\n';
    if (out.size() > kMaxExpanded) {
      return Error(Errc::kInvalid, cat("larger than ", kMaxExpanded, " bytes after expansion"));
    }
  }
  return out;
}

}  // namespace mnet::cni_node
