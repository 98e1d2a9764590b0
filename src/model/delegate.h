// One network to be attached: its configuration and what the pod asks of it (02, 1 and 3.1). Made
// from text or from what was loaded elsewhere; knows no files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cni/conf.h"
#include "json/json.h"
#include "model/selection_element.h"

namespace mnet::model {

// On whose request it is attached (05, 3.2): only those of kAnnotation and kHotplug are ever
// removed by reconciliation.
enum class Source : std::uint8_t {
  kCluster,  // the cluster network, or the pod's default-network annotation
  kDefaultNetworks,
  kAuxChain,
  kAnnotation,
  kHotplug,
  kDelegateApi,
};

struct Delegate {
  std::string name;      // of the delegate (02, 3.1): status, events, device info
  std::string cni_name;  // of its configuration: plugin input, result cache, error texts
  bool is_master = false;
  bool is_list = false;
  bool from_list_file = false;     // a .conflist path or the auxiliary chain (02, 6.1, `Conf`)
  bool removed = false;            // its DEL succeeded already, in a DEL that failed as a whole
  std::vector<std::string> types;  // of its plugins
  std::string bytes;  // the complete configuration: byte for byte what goes into the records
  // What is run; a conf is a list of one (01, 4.5), whose own `object` is empty. It has no texts:
  // `bytes` is enough of them while a plugin runs. An error is one that shows only when it is run:
  // such a delegate loads (02, 1), its ADD fails.
  Result<cni::ConfList> list;
  NetworkSelectionElement selection;
  Source source = Source::kCluster;
  // For the attachment record: the configuration before any injection, as `sha256:…`, and what was
  // requested of it, as it was written.
  std::string config_hash;
  json::Object attributes;
  bool loses_v4_default = false, loses_v6_default = false;  // 02, 3.10
};

// Its configuration, decoded. Only of one whose list can be read.
const json::Object& decoded_config(const Delegate& delegate);

// Types of the members that 02, 1 lists for a configuration, at the top or in a plugin.
Result<void> check_known_members(const json::Object& config, std::string path = {});

// An entry of `delegates`, a NAD's text, an element of a scratch file. An object with a `type` is a
// conf, any other must have `plugins`. Errors have the texts of (02, 1).
Result<Delegate> parse_delegate(std::string text);

// What a loader of files found.
Delegate delegate_of(cni::PluginConf conf);
Delegate delegate_of(cni::ConfList list);

// kInvalid for a delegate that names Multus itself, or a type that is a path, anywhere in its
// configuration, or where it depends on the reader what is run (cni/types.h; 02, 3.3). `own_type`
// is that of the node's own configuration.
Result<void> check_types(const Delegate& delegate, std::string_view own_type);
// kDenied if it names a type, at any depth, that is none of `allowed`; no list allows all.
Result<void> check_allowed_types(const Delegate& delegate,
                                 const std::optional<std::vector<std::string>>& allowed);

// Another text for the same network: its list is read anew, conf or conflist as before.
void set_bytes(Delegate& delegate, std::string bytes);

// `bytes` of a conflist with its `cniVersion` set and nothing else changed (02, 6.3).
Result<std::string> with_cni_version(std::string_view bytes, std::string_view version);

// The name of its interface: the requested one; else for the master CNI_IFNAME, for the others
// `net<index>`. DEL, CHECK and hot-plug find by the same rule what an ADD named, and so does
// another version of Multus: it must not change.
std::string interface_name(const Delegate& delegate, std::size_t index,
                           std::string_view cni_ifname);

}  // namespace mnet::model
