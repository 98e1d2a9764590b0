// Finds and loads network configurations in directories of the node: as libcni does it (01, 4.1
// to 4.5) and as Multus does it (02, 3.3 d-f, 3.5, 3.6). Blocking; callers on the event loop go
// through a pool.
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

// Paths of the files in `dir` with one of these extensions (".conf"), in byte order of their names.
// No such directory: none.
Result<std::vector<std::string>> conf_files(const std::string& dir,
                                            const std::vector<std::string_view>& extensions);
Result<cni::PluginConf> load_conf_file(const std::string& path);
// With the plugins of the sub-directory named after the network, which are not in its bytes
// (01, 4.3).
Result<cni::ConfList> load_conflist_file(const std::string& path);
// The list of that name, else the conf of that name as a list of one (01, 4.4). A broken file
// before the wanted one ends the search. kNotFound: there are configurations, none of that name;
// kUnavailable: there are none at all.
Result<cni::ConfList> load_network(const std::string& dir, std::string_view name);

// Multus's rules.

using Loaded = std::variant<cni::PluginConf, cni::ConfList>;
// A list in a file with sub-directory chaining; its bytes are complete (02, 3.6).
Result<cni::ConfList> load_chain(const std::string& path);
// 3.5: by CNI name in confDir; broken files are skipped, logged and named in the error. kNotFound:
// no file has that name. Types are not looked at: the first file of that name is the one that was
// asked for, and whoever runs it refuses Multus's own (02, 3.3).
Result<Loaded> load_by_name(const std::string& dir, std::string_view name, const Log& log);
// 3.3 d to f: a directory (its first usable file; kNotFound if it has none), a .conflist, another
// file. One that names Multus itself anywhere, or a type that is a path, is never taken
// (cni/types.h); `own_type` is that of the node's own configuration.
Result<Loaded> load_path(const std::string& path, const Log& log, std::string_view own_type = {});
// 3.9: the plugins of `dir`/`network_name`/*.conf.
Result<std::vector<cni::PluginConf>> chained_plugins(const std::string& dir,
                                                     std::string_view network_name);

}  // namespace mnet::confdir
