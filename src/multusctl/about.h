// What the program says about itself: help, completion scripts and the manual page, all made from
// the table of commands.
#pragma once

#include <string>
#include <string_view>

#include "multusctl/commands.h"

namespace mnet::multusctl {

// Of one command; nullptr: of the program.
std::string help_text(std::string_view program, const Command* command);
std::string man_page();
// `shell` is bash, zsh or fish; empty for another.
std::string completion_script(std::string_view shell);

}  // namespace mnet::multusctl
