// The command line of a CNI plugin program: only help and version, since all input comes by
// environment and stdin.
#pragma once

#include <optional>
#include <string_view>

#include "skel/skel.h"

namespace mnet::skel {

// Answers `-v`, `--version`, help and unknown flags, and yields the exit status; none if the
// program should do its work.
std::optional<int> answer_flags(std::string_view program, int argc, char** argv,
                                const Front& front);

}  // namespace mnet::skel
