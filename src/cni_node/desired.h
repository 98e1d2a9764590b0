// What a node shall have, as a ConfigMap says it (04, 3.1 and 3.3). Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cni_node/names.h"
#include "json/json.h"

namespace mnet::cni_node {

// A kind that is not named is not managed: nothing of it changes.
struct Desired {
  std::optional<Names> plugins = {}, configs = {}, manifests = {};
  Pins pins = {};  // of plugins

  friend bool operator==(const Desired&, const Desired&) = default;
};

struct DesiredNow {
  Desired lists;
  std::vector<std::string> errors = {};  // `plugins: Invalid name: ../x`
};
// The keys of its `data`. A list with an invalid name stays as it was in `before`.
DesiredNow desired_of(const json::Object& configmap, const Desired& before);

}  // namespace mnet::cni_node
