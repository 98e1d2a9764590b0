// What both loaders share. Internal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cni/conf.h"

namespace mnet::confdir {

// The list in one file, without the plugins of its sub-directory.
Result<cni::ConfList> parse_conflist_file(const std::string& path);

// Paths of `dir`/`network_name`/*.conf; none if that directory does not exist. The name must be a
// valid network name.
Result<std::vector<std::string>> plugin_files(const std::string& dir,
                                              std::string_view network_name);

}  // namespace mnet::confdir
