// What is known about plugins in advance: the types that people use, and the keys of the CNI
// project's own plugins. Other plugins, and other keys, are legal: only a word that looks like a
// known one is reported.
#pragma once

#include <span>
#include <string_view>

namespace mnet::lint {

struct KnownPlugin {
  std::string_view type;
  std::span<const std::string_view> keys;  // empty: not known
  bool is_ipam = false;
};

std::span<const std::string_view> known_types();
// nullptr: nothing is known of its keys.
const KnownPlugin* find_plugin(std::string_view type, bool is_ipam);
// Keys that every plugin may have.
std::span<const std::string_view> common_keys();

}  // namespace mnet::lint
