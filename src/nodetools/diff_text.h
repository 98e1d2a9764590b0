// Shows how two texts differ, as `diff -U3` does without its two header lines (04, 2.6).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mnet::nodetools {

// Hunks with three lines of context; empty if the texts are equal. A last line without a newline is
// followed by `\ No newline at end of file`, and differs from the same line with one. More than
// `max_bytes` is cut after a whole line and ends in `(diff truncated)`.
std::string diff_text(std::string_view before, std::string_view after,
                      std::size_t max_bytes = 64u << 10);

}  // namespace mnet::nodetools
