// `hotplug` of the configuration: whether and how edits of the networks annotation are applied to
// running pods (05, 3.1).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mnet::model {

struct HotplugSettings {
  bool is_enabled = false;
  std::size_t workers = 4;  // pods handled at the same time
  // Of a failed attachment: the pause before the next attempt, which doubles.
  std::chrono::milliseconds retry_initial = std::chrono::seconds(1);
  std::chrono::milliseconds retry_max = std::chrono::minutes(5);
  // Between two comparisons of all pods; 0: none.
  std::chrono::milliseconds resync = std::chrono::minutes(10);
  std::optional<std::vector<std::string>> namespaces;  // none: all
  bool replaces_on_change = false;                     // of an attachment's attributes

  bool includes(std::string_view ns) const {
    return !namespaces || std::ranges::find(*namespaces, ns) != namespaces->end();
  }
};

}  // namespace mnet::model
