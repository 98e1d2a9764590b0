#include "cni_node/config_order.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cni_node/names.h"

namespace mnet::cni_node {
namespace {

class Graph {
 public:
  Graph(const Names& names, const std::map<std::string, std::vector<std::string>>& pointers)
      : names_(names), pointers_(pointers) {}

  ConfigOrder order() {
    ConfigOrder out;
    for (const std::string& name : names_) {
      if (const Names cycle = find_cycle(name); !cycle.empty()) out.cycles[name] = shown(cycle);
    }
    std::set<std::string> placed;
    for (const std::string& name : names_) place(name, out, placed);
    return out;
  }

 private:
  Names next(const std::string& name) const {
    Names out;
    const auto pointed = pointers_.find(name);
    if (pointed == pointers_.end()) return out;
    for (const std::string& other : pointed->second) {
      if (other != name && std::ranges::find(names_, other) != names_.end()) out.push_back(other);
    }
    return out;
  }

  // The way from `name` back to it; empty if there is none.
  Names find_cycle(const std::string& name) const {
    std::set<std::string> seen;
    Names path = {name};
    return search(name, path, seen) ? path : Names();
  }
  bool search(const std::string& goal, Names& path, std::set<std::string>& seen) const {
    for (const std::string& other : next(path.back())) {
      if (other == goal) return true;
      if (!seen.insert(other).second) continue;
      path.push_back(other);
      if (search(goal, path, seen)) return true;
      path.pop_back();
    }
    return false;
  }

  // From the first in the list on, so that all in a cycle say the same.
  std::string shown(Names cycle) const {
    const auto first = std::ranges::find_if(names_, [&](const std::string& name) {
      return std::ranges::find(cycle, name) != cycle.end();
    });
    std::ranges::rotate(cycle, std::ranges::find(cycle, *first));
    cycle.push_back(*first);
    return cat("pointer cycle: ", join(cycle, " -> "));
  }

  void place(const std::string& name, ConfigOrder& out, std::set<std::string>& placed) const {
    if (!placed.insert(name).second) return;
    if (!out.cycles.contains(name)) {
      for (const std::string& other : next(name)) place(other, out, placed);
    }
    out.names.push_back(name);
  }

  const Names& names_;
  const std::map<std::string, std::vector<std::string>>& pointers_;
};

}  // namespace

ConfigOrder order_configs(const Names& names,
                          const std::map<std::string, std::vector<std::string>>& pointers) {
  return Graph(names, pointers).order();
}

}  // namespace mnet::cni_node
