// The command line and the environment of cnitool (01, 8). Reads no files.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cni/args.h"
#include "json/json.h"

namespace mnet::cnitool {

struct CommandLine {
  bool wants_help = false;
  std::string command, network, netns;
  std::string ifname;  // empty: not given
};

std::string usage();

// Flags may stand anywhere; extra words are ignored.
Result<CommandLine> parse_command_line(std::vector<std::string> words);

struct Inputs {
  std::string command, network;
  std::string conf_dir, container_id, netns, ifname;
  std::vector<std::string> dirs;
  cni::ArgPairs args;
  json::Object capability_args;
};

using Variable = std::function<std::optional<std::string>(std::string_view name)>;

Result<Inputs> read_inputs(const CommandLine& line, const Variable& variable);

}  // namespace mnet::cnitool
