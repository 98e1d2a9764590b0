// Which plugins a configuration may name. Every member `type` names a program that runs as root: we
// start the plugin, and the plugin starts its IPAM plugin or others it delegates to. Multus itself
// must not be among them: it would take paths (binDir, cniDir, logFile) from the configuration it
// is started with, which a tenant may have written (02, 3.3). Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/json.h"

namespace mnet::cni {

// Whether this is the name of one of Multus's own programs. `configured` is the `type` in the
// node's own configuration, which may use another name for them; empty: none.
bool is_own_type(std::string_view type, std::string_view configured = {});

// The first text member `type` for which `is_wanted` returns true, at any depth and in any letter
// case: plugins written in Go read it in any.
struct NamedType {
  std::string path;  // `plugins[1].ipam.type`; cut off if it is very long
  std::string type;
};
std::optional<NamedType> find_type(const json::Object& config,
                                   const std::function<bool(std::string_view type)>& is_wanted);

// kInvalid if a type is one of Multus's own, or a path: `ipam.type "multus" is multus itself`,
// `ipam.type: invalid plugin name: ../x`; or if it depends on the reader what is run: `the key
// "type" is there in two spellings`. `configured` as above.
Result<void> check_types(const json::Object& config, std::string_view configured);
// The same error if the whole configuration of a network has `name` or `cniVersion` in two
// spellings: readers would differ in where its result is cached.
Result<void> check_names(const json::Object& config);
// check_types() for removing an earlier attachment: a path counts only in `type` and `ipam.type`,
// which surely name a program. An earlier version of Multus may have attached with the rest, and
// that attachment must still be removable.
Result<void> check_types_for_removal(const json::Object& config, std::string_view configured);

// kDenied if a type, at any depth, is none of `allowed`: `ipam.type "dhcp" is not among
// allowedPluginTypes (bridge, static)`.
Result<void> check_allowed_types(const json::Object& config,
                                 const std::vector<std::string>& allowed);

}  // namespace mnet::cni
