#include "skel/args.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "cni/args.h"

namespace mnet::skel {
namespace {

Result<bool> parse_boolean(std::string_view text) {
  const std::string lower = to_lower(text);
  if (lower == "1" || lower == "true") return true;
  if (lower == "0" || lower == "false") return false;
  return Error(Errc::kInvalid, cat("boolean unmarshal error: invalid input ", lower));
}

}  // namespace

Result<cni::ArgPairs> parse_plugin_args(std::string_view text,
                                        const std::vector<std::string_view>& known) {
  cni::ArgPairs pairs;
  std::vector<std::string> unknown;
  bool ignores_unknown = false;
  if (text.empty()) return pairs;
  for (const std::string_view piece : split(text, ';')) {
    const std::size_t at = piece.find('=');
    if (at == std::string_view::npos || piece.find('=', at + 1) != std::string_view::npos) {
      return Error(Errc::kInvalid, cat("ARGS: invalid pair ", go_quoted(piece)));
    }
    const std::string_view key = piece.substr(0, at);
    const std::string_view value = piece.substr(at + 1);
    if (key == "IgnoreUnknown") {
      auto flag = parse_boolean(value);
      if (!flag) {
        return flag.error().wrap(cat("ARGS: error parsing value of pair ", go_quoted(piece)));
      }
      ignores_unknown = *flag;
    } else if (std::ranges::find(known, key) != known.end()) {
      pairs.emplace_back(key, value);
    } else {
      unknown.emplace_back(piece);
    }
  }
  if (unknown.empty() || ignores_unknown) return pairs;
  return Error(Errc::kInvalid, cat("ARGS: unknown args ", go_quoted_list(unknown)));
}

}  // namespace mnet::skel
