#include "cni_node/substitute.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mnet::cni_node {
namespace {

bool may_begin(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}
bool may_follow(char byte) { return may_begin(byte) || (byte >= '0' && byte <= '9'); }

// A reference at the beginning of `text`, which is a `$`: its name, and how much of the text it is.
struct Reference {
  std::string_view name;
  std::size_t size;
};
std::optional<Reference> reference_at(std::string_view text) {
  const bool is_braced = text.substr(1).starts_with('{');
  const std::size_t begin = is_braced ? 2 : 1;
  if (begin >= text.size() || !may_begin(text[begin])) return std::nullopt;
  std::size_t end = begin;
  while (end < text.size() && may_follow(text[end])) ++end;
  const std::string_view name = text.substr(begin, end - begin);
  if (!is_braced) return Reference{name, end};
  if (!text.substr(end).starts_with('}')) return std::nullopt;
  return Reference{name, end + 1};
}

}  // namespace

Variables variables_of(const std::vector<std::string>& environment) {
  Variables out;
  for (const std::string& entry : environment) {
    const std::size_t at = entry.find('=');
    if (at != std::string::npos) out.emplace(entry.substr(0, at), entry.substr(at + 1));
  }
  return out;
}

Substituted substitute(std::string_view text, const Variables& variables,
                       const std::optional<std::set<std::string, std::less<>>>& allowed) {
  Substituted out;
  while (!text.empty()) {
    const std::string_view literal = text.substr(0, text.find('$'));
    out.text += literal;
    text.remove_prefix(literal.size());
    if (text.empty()) break;
    const auto reference = reference_at(text);
    if (!reference || (allowed && !allowed->contains(reference->name))) {
      // The dollar sign alone: a reference may begin right after it.
      out.text += '$';
      text.remove_prefix(1);
      continue;
    }
    const auto value = variables.find(reference->name);
    if (value != variables.end()) {
      out.text += value->second;
    } else if (std::ranges::find(out.unset, reference->name) == out.unset.end()) {
      out.unset.emplace_back(reference->name);
    }
    text.remove_prefix(reference->size);
  }
  return out;
}

}  // namespace mnet::cni_node
