#include "selfcheck/networks.h"

#include <cstddef>
#include <functional>
#include <map>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "json/at.h"
#include "json/count.h"
#include "json/json.h"
#include "selfcheck/finding.h"

namespace mnet::selfcheck {
namespace {

constexpr std::size_t kMostNamed = 5;
// At most this many missing plugins, or interfaces, are named: definitions may need thousands.
constexpr std::size_t kMostMissing = 20;
constexpr std::size_t kMostValues = 10'000;

// Which networks need something that is missing.
using Users = std::map<std::string, std::vector<std::string>>;

std::string text_in(const json::Object& object, std::string_view key) {
  return json::text_of(object.find(key));
}

// Counted before anything is built: the author of a definition chooses these bytes (02, 10).
Result<json::Object> read(const std::string& config) {
  if (json::count(config).values > kMostValues) {
    return Error(Errc::kInvalid, cat("it has more than ", kMostValues, " values"));
  }
  return json::parse_object(config);
}

std::vector<const json::Object*> plugins_of(const json::Object& config) {
  const json::Value* list = config.find("plugins");
  if (json::as_array(list) == nullptr) return {&config};
  return json::objects_of(list);
}

std::vector<std::string> types_of(const json::Object& plugin) {
  std::vector<std::string> types = {text_in(plugin, "type"),
                                    json::text_of(json::find_at(plugin, {"ipam", "type"}))};
  std::erase_if(types, [](const std::string& type) { return type.empty(); });
  return types;
}

// False if too many are named already for this one to be named.
bool note(Users& users, const std::string& what, const std::string& network) {
  if (users.size() >= kMostMissing && !users.contains(what)) return false;
  auto& networks = users[what];
  if (networks.empty() || networks.back() != network) networks.push_back(network);
  return true;
}

std::string list(const std::vector<std::string>& networks) {
  const auto first = networks | std::views::take(kMostNamed);
  std::string text = join(std::vector<std::string>(first.begin(), first.end()), ", ");
  if (networks.size() > kMostNamed) text += cat(" and ", networks.size() - kMostNamed, " more");
  return text;
}

Finding unreadable(const std::string& network, const Error& why) {
  return {.severity = Severity::kError,
          .check = kPlugins,
          .what = cat("the configuration of the network ", network,
                      " cannot be read: ", excerpt(why.text())),
          .why = "Pods that ask for it do not start",
          .advice = "Correct spec.config of the definition"};
}

Finding no_plugin(const std::string& type, const std::vector<std::string>& networks,
                  const NodeView& node) {
  return {.severity = Severity::kError,
          .check = kPlugins,
          .what = cat("the plugin ", go_quoted(type), " is not in ", node.plugin_dir),
          .why = cat("Pods with the network ", list(networks), " do not start on this node"),
          .advice = "Install it there, or set binDir to its directory"};
}

Finding no_link(const std::string& what, const std::vector<std::string>& networks) {
  return {.severity = Severity::kError,
          .check = kMasters,
          .what = what,
          .why = cat("Pods with the network ", list(networks), " do not start on this node"),
          .advice =
              "Create the interface, correct spec.config of the definition, or keep such pods off "
              "this node"};
}

Finding even_more() {
  return {.severity = Severity::kError,
          .check = kPlugins,
          .what = cat("more than ", kMostMissing, " plugins or interfaces are missing"),
          .why = "Pods with other networks do not start on this node, either",
          .advice = "Fix those that are named, then check again"};
}

}  // namespace

std::string missing_link(const json::Object& plugin,
                         const std::function<bool(const std::string& ifname)>& has_link) {
  // Then the interface is the container's own.
  if (json::is_true(plugin.find("linkInContainer"))) return {};
  const std::string_view key = text_in(plugin, "type") == "host-device" ? "device" : "master";
  const std::string ifname = text_in(plugin, key);
  if (ifname.empty() || has_link(ifname)) return {};
  return cat(key, " ", go_quoted(ifname), " does not exist on this node");
}

Findings check_networks(const std::vector<Network>& networks, const NodeView& node) {
  Findings found;
  Users plugins, links;
  bool is_all = true;
  for (const Network& network : networks) {
    const auto config = read(network.config);
    if (!config) {
      found.push_back(unreadable(network.name, config.error()));
      continue;
    }
    for (const json::Object* plugin : plugins_of(*config)) {
      for (const std::string& type : types_of(*plugin)) {
        if (!plugins.contains(type) && node.has_plugin(type)) continue;
        is_all &= note(plugins, type, network.name);
      }
      const std::string link = missing_link(*plugin, node.has_link);
      if (!link.empty()) is_all &= note(links, link, network.name);
    }
  }
  for (const auto& [type, users] : plugins) found.push_back(no_plugin(type, users, node));
  for (const auto& [link, users] : links) found.push_back(no_link(link, users));
  if (!is_all) found.push_back(even_more());
  return found;
}

}  // namespace mnet::selfcheck
