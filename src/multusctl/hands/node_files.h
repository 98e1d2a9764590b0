// What a bundle contains of one node: the daemon's answers, configurations and records, without
// secrets. Blocks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"
#include "multusctl/commands.h"
#include "multusctl/hands/archive.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

struct Collected {
  std::vector<ArchivedFile> files;
  std::vector<std::string> missing;  // what could not be read, and why

  // Scrubbed, then cut at kMostOfFile: half a document cannot be searched for secrets as a whole
  // one can.
  void add(std::string name, std::string_view text);
  // The same of a list: whole objects, as many as there is room for.
  void add_list(std::string name, const json::Array& objects);
  std::size_t bytes = 0;

 private:
  void put(std::string name, std::string clean);
};
inline constexpr std::size_t kMostOfFile = 8u << 20, kMostOfBundle = 64u << 20;
inline constexpr std::size_t kMostMissing = 1000;  // of a node, that are told of
// Of one node, so that the output of one exec can carry it.
inline constexpr std::size_t kMostOfNode = 2u << 20;

Collected collect_node(const Invocation& invocation, const Surroundings& surroundings);

json::Object to_json(const Collected& collected);
Collected parse_collected(const json::Object& object);

}  // namespace mnet::multusctl
