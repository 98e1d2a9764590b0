// CNI_ARGS: `K=V` pairs joined by `;` (01, 2.8 and 7.2; 02, 0.2).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace mnet::cni {

using ArgPairs = std::vector<std::pair<std::string, std::string>>;

std::string args_text(const ArgPairs& pairs);

// Split at `;`, each part at its first `=`. A part without `=` is an error, and so is the empty
// part after a trailing `;`: `ARGS: invalid pair "x"`. The empty text has no pairs.
Result<ArgPairs> parse_args(std::string_view text);
// The same, but parts without `=` are skipped: for DEL, which they must not stop, and for the
// arguments of delegates (02, 4.2).
ArgPairs parse_args_leniently(std::string_view text);

// The value of the last pair with this key; nullptr if there is none.
const std::string* find_arg(const ArgPairs& pairs, std::string_view key);

}  // namespace mnet::cni
