// The keys of daemon-config.json, to tell a misspelled one (docs/reference.md). Others are legal.
#pragma once

#include <span>
#include <string_view>

namespace mnet::lint {

std::span<const std::string_view> daemon_keys();

}  // namespace mnet::lint
