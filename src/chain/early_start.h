// Which plugins may be started ahead of their turn. Pure; docs/parallel-attach.md has the reasons.
#pragma once

#include <string_view>

namespace mnet::chain {

// Whether plugins of this type are known to do nothing before they have read their configuration:
// they may be started ahead of their turn.
bool waits_for_config(std::string_view type);

}  // namespace mnet::chain
