#include "cni/args.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"

namespace mnet::cni {

std::string args_text(const ArgPairs& pairs) {
  std::string text;
  for (const auto& [key, value] : pairs) {
    if (!text.empty()) text += ';';
    text += cat(key, "=", value);
  }
  return text;
}

Result<ArgPairs> parse_args(std::string_view text) {
  ArgPairs pairs;
  if (text.empty()) return pairs;
  for (const std::string_view piece : split(text, ';')) {
    const std::size_t equals = piece.find('=');
    if (equals == std::string_view::npos) {
      return Error(Errc::kInvalid, cat("ARGS: invalid pair ", go_quoted(piece)));
    }
    pairs.emplace_back(piece.substr(0, equals), piece.substr(equals + 1));
  }
  return pairs;
}

ArgPairs parse_args_leniently(std::string_view text) {
  ArgPairs pairs;
  for (const std::string_view piece : split(text, ';')) {
    const std::size_t equals = piece.find('=');
    if (equals == std::string_view::npos) continue;
    pairs.emplace_back(piece.substr(0, equals), piece.substr(equals + 1));
  }
  return pairs;
}

const std::string* find_arg(const ArgPairs& pairs, std::string_view key) {
  const auto last = std::find_if(pairs.rbegin(), pairs.rend(),
                                 [&](const auto& pair) { return pair.first == key; });
  return last == pairs.rend() ? nullptr : &last->second;
}

}  // namespace mnet::cni
