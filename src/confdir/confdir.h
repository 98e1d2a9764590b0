// Finds and loads network configurations in directories of the node: as libcni does it (01, 4.1
// to 4.5) and as Multus does it (02, 3.3 d-f, 3.5, 3.6).
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "cni/conf.h"

namespace mnet::confdir {

// libcni's rules.
Result<std::vector<std::string>> conf_files(const std::string& dir,
                                            const std::vector<std::string_view>& extensions);
Result<cni::ConfList> load_conflist_file(
    const std::string& path);  // with the sub-directory of 01, 4.3
Result<cni::ConfList> load_network(const std::string& dir, std::string_view name);  // 01, 4.4

// Multus's rules.
using Loaded = std::variant<cni::PluginConf, cni::ConfList>;
// A list in a file with sub-directory chaining; its bytes are complete (02, 3.6).
Result<cni::ConfList> load_chain(const std::string& path);
// 3.5: by CNI name in confDir; broken files are skipped, logged and named in the error.
Result<Loaded> load_by_name(const std::string& dir, std::string_view name, const Log& log);
// 3.3 d to f: a directory, a .conflist, another file. Multus's own types are never taken.
Result<Loaded> load_path(const std::string& path, const Log& log);
// 3.9: passthru and D/N/*.conf.
Result<std::vector<cni::PluginConf>> chained_plugins(const std::string& dir,
                                                     std::string_view network_name);

}  // namespace mnet::confdir
