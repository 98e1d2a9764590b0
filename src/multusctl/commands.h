// The one table of commands and flags: parser, help, completion and manual page are made from it.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nodetools/output.h"

namespace mnet::multusctl {

struct Invocation;

// Where a command runs: tests bring their own.
struct Surroundings {
  nodetools::Output& output;
  std::vector<std::string> environment;
  bool is_terminal = false;     // stdout
  bool shows_progress = false;  // on stderr
  // The next line of what the user types; none: there is no terminal to ask at.
  std::function<std::optional<std::string>()> ask = {};
};

struct Flag {
  std::string_view name;
  char letter = 0;                    // of the short form; 0: none
  std::string_view placeholder = {};  // of its value; empty: it is a switch
  std::string_view help;
};

using Run = int (*)(const Invocation& invocation, Surroundings& surroundings);

struct Command {
  std::string_view name;
  std::string_view arguments;                       // `FILE|DIR|-...`
  std::string_view summary;                         // one line
  std::string_view description;                     // paragraphs
  std::span<const std::string_view> flags;          // by name, beside the global ones
  std::span<const std::string_view> outputs = {};   // what -o may be, beside nothing
  std::span<const std::string_view> examples = {};  // command lines without the program's name
  std::span<const std::string_view> choices = {};   // what the argument may be, if that is fixed
  std::string_view output_file = {};                // -o names a file: what it says of it
  std::span<const Flag> meanings = {};              // of flags that mean something of its own
  Run run = nullptr;
};

std::span<const Command> all_commands();
const Command* find_command(std::string_view name);
// Those of every command come first.
std::span<const Flag> all_flags();
const Flag& flag_of(std::string_view name);  // only of a flag in the table
// As this command has it.
const Flag& flag_of(const Command& command, std::string_view name);
bool is_global(std::string_view flag);

}  // namespace mnet::multusctl
