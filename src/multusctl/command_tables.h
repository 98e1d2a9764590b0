// The table of commands in three parts (commands.h has the whole).
#pragma once

#include <span>

#include "multusctl/commands.h"

namespace mnet::multusctl {

std::span<const Command> seeing_commands();  // that change nothing
std::span<const Command> hand_commands();    // that mend and try things
std::span<const Command> own_commands();     // about this program

}  // namespace mnet::multusctl
