// In which order configurations that point to each other are made (04, 3.3). Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cni_node/names.h"

namespace mnet::cni_node {

struct ConfigOrder {
  Names names;                                // each after those it points to
  std::map<std::string, std::string> cycles;  // `pointer cycle: a -> b -> a`, for each in one
};

// `pointers`: what each points to; what is not among `names` does not matter, and neither does a
// name that points to itself, which is an error of its own.
ConfigOrder order_configs(const Names& names,
                          const std::map<std::string, std::vector<std::string>>& pointers);

}  // namespace mnet::cni_node
