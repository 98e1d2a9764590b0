// CNI_ARGS as the reference plugins read it (01, 2.8): stricter than what the daemon accepts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cni/args.h"

namespace mnet::skel {

// The pairs whose key is in `known` (in exact letter case), in order; `IgnoreUnknown` need not be
// listed. Every part must have exactly one `=`. An unknown key is an error unless `IgnoreUnknown`
// is true.
Result<cni::ArgPairs> parse_plugin_args(std::string_view text,
                                        const std::vector<std::string_view>& known);

}  // namespace mnet::skel
