// What the program says of itself, all of it made from the table of commands: help, completion
// scripts, the manual page; and its version.
#pragma once

#include <string>
#include <string_view>

#include "multusctl/commands.h"

namespace mnet::multusctl {

// Of one command, or of the program if there is none.
std::string help_text(std::string_view program, const Command* command);
std::string man_page();
// `shell` is bash, zsh or fish; empty for another.
std::string completion_script(std::string_view shell);

int run_version(const Invocation& invocation, Surroundings& surroundings);
int run_completion(const Invocation& invocation, Surroundings& surroundings);
int run_man(const Invocation& invocation, Surroundings& surroundings);

}  // namespace mnet::multusctl
