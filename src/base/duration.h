// Durations as Go writes them: `10m`, `1h30m`, `-1.5s`. Knows nothing of what they are for.
#pragma once

#include <chrono>
#include <string_view>

#include "base/result.h"

namespace mnet {

// Units ns, us (or µs), ms, s, m, h; `0` alone needs none. The error quotes the text:
// `time: invalid duration "abc"`.
Result<std::chrono::nanoseconds> parse_go_duration(std::string_view text);

}  // namespace mnet
