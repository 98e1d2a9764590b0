// Which version a plugin of the image is (04, 1.1, `list`).
#pragma once

#include <string>
#include <string_view>

namespace mnet::cni_node {

// As the file `.versions` of the plugin source says, which has lines `<plugin> <version>`; empty if
// it does not.
std::string plugin_version(const std::string& plugin_source, std::string_view name);

// By their numbers, `1.9.1` before `1.10.0`; what is not known is not older.
bool is_older(std::string_view version, std::string_view than);

}  // namespace mnet::cni_node
