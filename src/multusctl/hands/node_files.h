// What a bundle has of one node: what its daemon says, its configurations and records, without
// secrets. Blocks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "json/json.h"
#include "multusctl/commands.h"
#include "multusctl/hands/archive.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

struct Collected {
  std::vector<ArchivedFile> files;
  std::vector<std::string> missing;  // what could not be read, and why

  // Scrubbed, and cut at kMostOfFile.
  void add(std::string name, std::string_view text);
  std::size_t bytes = 0;
};
inline constexpr std::size_t kMostOfFile = 8u << 20, kMostOfBundle = 64u << 20;
// Of one node, so that an exec brings it.
inline constexpr std::size_t kMostOfNode = 2u << 20;

Collected collect_node(const Invocation& invocation, const Surroundings& surroundings);

json::Object to_json(const Collected& collected);
Collected parse_collected(const json::Object& object);

}  // namespace mnet::multusctl
