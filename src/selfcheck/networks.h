// What networks need on this node: an executable for each plugin, and the interfaces that they are
// made on. Reads their configurations and asks the node through two functions.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"
#include "selfcheck/finding.h"

namespace mnet::selfcheck {

struct Network {
  std::string name;    // for people: `default/macv`, or the file of the cluster network
  std::string config;  // of a plugin, or of a list of them
};

struct NodeView {
  std::function<bool(const std::string& type)> has_plugin;
  std::function<bool(const std::string& ifname)> has_link;  // in the node's network namespace
  std::string plugin_dir;                                   // where plugins are, for people
};

// One finding for each plugin and each interface that is missing, however many networks need it; a
// configuration that cannot be read is a finding, too.
Findings check_networks(const std::vector<Network>& networks, const NodeView& node);

// Why a plugin with this configuration cannot work here: `master "eth7" does not exist on this
// node`; empty if no reason is known.
std::string missing_link(const json::Object& plugin,
                         const std::function<bool(const std::string& ifname)>& has_link);

}  // namespace mnet::selfcheck
