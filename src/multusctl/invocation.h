// A command line, taken apart by the table of commands.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "multusctl/commands.h"

namespace mnet::multusctl {

struct Invocation {
  std::string program;               // multusctl, or kubectl multus
  const Command* command = nullptr;  // nullptr: none was named
  std::vector<std::string> arguments = {};
  std::map<std::string, std::string, std::less<>> texts = {};  // of the flags that were given
  std::set<std::string, std::less<>> switches = {};

  bool has(std::string_view flag) const { return switches.contains(flag); }
  // Empty: not given.
  std::string text(std::string_view flag) const {
    const auto found = texts.find(flag);
    return found == texts.end() ? std::string() : found->second;
  }
};

// The number of seconds that a flag says, from 1 to an hour.
Result<std::chrono::seconds> seconds_of(const Invocation& invocation, std::string_view flag,
                                        std::chrono::seconds otherwise);

// In kubectl's dialect: flags and other words in any order, the command among them. The error is
// meant for the user.
Result<Invocation> parse_invocation(std::string_view path, const std::vector<std::string>& words);

}  // namespace mnet::multusctl
