// Finds and loads network configurations in directories of the node, as libcni does (01, 4.1 to
// 4.5) and as Multus does (02, 3.3 d-f, 3.5, 3.6). Blocking: from the event loop, call it on a
// pool.
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

// Paths of the files in `dir` with one of these extensions (".conf"), in byte order of their names;
// none if the directory does not exist.
Result<std::vector<std::string>> conf_files(const std::string& dir,
                                            const std::vector<std::string_view>& extensions);
Result<cni::PluginConf> load_conf_file(const std::string& path);
// Includes the plugins of the sub-directory named after the network; they are not in its bytes
// (01, 4.3).
Result<cni::ConfList> load_conflist_file(const std::string& path);
// The list of that name, else the conf of that name as a list of one (01, 4.4). An invalid file
// that sorts before it ends the search with its error. kNotFound: no configuration has that name;
// kUnavailable: there are no configurations at all.
Result<cni::ConfList> load_network(const std::string& dir, std::string_view name);

// Multus's rules.

using Loaded = std::variant<cni::PluginConf, cni::ConfList>;
// A list with the plugins of its sub-directory, which are in its bytes, too (02, 3.6).
Result<cni::ConfList> load_chain(const std::string& path);
// 3.5: by CNI name in confDir. Invalid files are skipped, logged and named in the error. kNotFound:
// no file has that name. Types are not checked: the first file of that name is the requested one,
// and the code that runs it refuses Multus's own types (02, 3.3).
Result<Loaded> load_by_name(const std::string& dir, std::string_view name, const Log& log);
// 3.3 d to f: a directory (its first usable file; kNotFound if it has none), a .conflist, or
// another file. Never one that names Multus itself anywhere, or a type that is a path
// (cni/types.h); `own_type` is the type in the node's own configuration.
Result<Loaded> load_path(const std::string& path, const Log& log, std::string_view own_type = {});
// 3.9: the plugins of `dir`/`network_name`/*.conf.
Result<std::vector<cni::PluginConf>> chained_plugins(const std::string& dir,
                                                     std::string_view network_name);

}  // namespace mnet::confdir
