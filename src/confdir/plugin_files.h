// What both loaders share. Inside use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cni/conf.h"

namespace mnet::confdir {

// The list in one file, without sub-directory.
Result<cni::ConfList> parse_conflist_file(const std::string& path);

// Paths of `dir`/`network_name`/*.conf; no such directory: none. The name must be safe.
Result<std::vector<std::string>> plugin_files(const std::string& dir,
                                              std::string_view network_name);

}  // namespace mnet::confdir
