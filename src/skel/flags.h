// The command line of a CNI plugin program: nothing but help and version, since everything else
// comes by environment and stdin.
#pragma once

#include <optional>
#include <string_view>

#include "skel/skel.h"

namespace mnet::skel {

// Answers `-v`, `--version`, help and wrong flags and yields the exit status; none if the program
// is to do its work.
std::optional<int> answer_flags(std::string_view program, int argc, char** argv,
                                const Front& front);

}  // namespace mnet::skel
