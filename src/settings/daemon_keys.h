// The keys of daemon-config.json, so that a misspelt one can be noticed (docs/reference.md). Other
// keys are legal: they are laid over each request. scripts/checks/reference holds the list to the
// sources that read the keys.
#pragma once

#include <span>
#include <string_view>

namespace mnet::settings {

// Keys of the document itself: those that the daemon reads, those that requests read through the
// overlay, and keys of older versions that only cause a warning.
std::span<const std::string_view> daemon_keys();

// The members of a key whose value is an object with fixed members; empty for any other key.
std::span<const std::string_view> daemon_members(std::string_view key);

}  // namespace mnet::settings
