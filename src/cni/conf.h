// Parses network configurations: one plugin's (conf) and a chain's (conflist) (01, 4). Knows no
// files: confdir finds and reads those.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "json/json.h"

namespace mnet::cni {

// Whether a configuration keeps the text that it was read from. A caller that keeps the
// text itself needs no second copy.
enum class Texts : std::uint8_t { kKept, kDropped };

// One plugin's configuration. `bytes` is what counts; the other members are parsed from it.
struct PluginConf {
  std::string bytes;  // as given; never made from the other members
  std::string name, version, type;
  std::vector<std::pair<std::string, bool>> capabilities;
  std::string ipam_type;
  json::Object object;  // `bytes`, decoded
};

// Checks one element of `cni.dev/valid-attachments`: null, or an object whose members have the
// right types. `path` names it in errors.
Result<void> check_attachment(const json::Value& value, std::string path);

// Checks the types of all known members; `type` is required (01, 4.2).
Result<PluginConf> parse_conf(std::string_view text, Texts texts = Texts::kKept);

struct ConfList {
  std::string bytes;  // as given: they go into the result cache
  std::string name;
  std::string version;  // the effective one (01, 4.3 step 4)
  bool disable_check = false;
  bool disable_gc = false;
  bool load_only_inlined_plugins = false;
  std::vector<PluginConf> plugins;
  json::Object object;  // `bytes`, decoded
};

Result<ConfList> parse_conflist(std::string_view text, Texts texts = Texts::kKept);

// The conf as a list of one: {"name", "cniVersion", "plugins": [the conf unchanged]} (01, 4.5).
Result<ConfList> conflist_of(const PluginConf& conf);

// `list` with these plugins after its own, in its bytes too: ADD runs exactly what is stored.
Result<ConfList> with_plugins(const ConfList& list, const std::vector<PluginConf>& more);

// The conf with these members set, parsed again. Empty keys and null values are errors (01, 4.6).
Result<PluginConf> inject(const PluginConf& conf, const json::Object& values);

// What one plugin of a network gets on stdin (01, 4.6): the conf with name and version, prevResult
// unless it is null, and the runtimeConfig for the capabilities that the conf declares.
Result<std::string> plugin_stdin(const PluginConf& conf, std::string_view network_name,
                                 std::string_view version, const json::Value& prev_result,
                                 const json::Object& capability_args);

}  // namespace mnet::cni
