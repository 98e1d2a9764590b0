#include "chain/early_start.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace mnet::chain {
namespace {

// Plugins that read their configuration first. Sorted.
constexpr auto kEarly = std::to_array<std::string_view>(
    {"bandwidth", "bridge", "cnv-bridge", "cnv-tuning", "dummy", "firewall", "host-device",
     "ipvlan", "loopback", "macvlan", "passthru", "portmap", "ptp", "sbr", "tap", "tuning", "vlan",
     "vrf"});
static_assert(std::ranges::is_sorted(kEarly));

}  // namespace

bool waits_for_config(std::string_view type) { return std::ranges::binary_search(kEarly, type); }

}  // namespace mnet::chain
