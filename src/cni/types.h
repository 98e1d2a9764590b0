// Which plugins a configuration may name. Every member `type` names a program that somebody starts
// as root: we the plugin's, the plugin its IPAM plugin or what else it hands work to. Multus itself
// must not be among them: it would take paths (binDir, cniDir, logFile) from the text it is started
// with, and that may be a tenant's (02, 3.3). Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json.h"

namespace mnet::cni {

// A name of Multus's own programs. `configured` is the `type` of the node's own configuration,
// which may have another name for them; empty: none.
bool is_own_type(std::string_view type, std::string_view configured = {});

// The first `type` that `is_wanted` says yes to: a text, at any depth, in any letter case (plugins
// written in Go read it in any).
struct NamedType {
  std::string path;  // `plugins[1].ipam.type`; of a very long one the beginning
  std::string type;
};
std::optional<NamedType> find_type(const json::Object& config,
                                   const std::function<bool(std::string_view type)>& is_wanted);

// kInvalid if a type is one of Multus's own, or a path: `ipam.type "multus" is multus itself`,
// `ipam.type: invalid plugin name: ../x`. `configured` as above.
Result<void> check_types(const json::Object& config, std::string_view configured);
// The same for what takes down an earlier attachment: a path counts only where a program is surely
// named, in `type` and `ipam.type`. An earlier version attached the rest, and nothing of that may
// be left behind.
Result<void> check_types_for_removal(const json::Object& config, std::string_view configured);

}  // namespace mnet::cni
