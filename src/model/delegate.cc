#include "model/delegate.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/conf.h"
#include "cni/types.h"
#include "json/at.h"
#include "json/fields.h"
#include "json/json.h"

namespace mnet::model {
namespace {

constexpr std::string_view kConfFault = "error unmarshalling delegate config";
constexpr std::string_view kListFault = "error unmarshalling delegate conflist";

Result<void> check_capabilities(const json::Object& object, const std::string& path) {
  for (const auto& [name, value] : object) {
    if (value.as_bool() == nullptr && !value.is_null()) {
      return json::wrong_kind(cat(path, ".", excerpt(name)), "a boolean", value);
    }
  }
  return {};
}

Result<void> check_ipam(const json::Object& object, std::string path) {
  std::string type;
  json::Fields fields(object, std::move(path));
  fields.read("type", type);
  return fields.done();
}

Result<void> check_dns(const json::Object& object, std::string path) {
  std::string domain;
  std::vector<std::string> list;
  json::Fields fields(object, std::move(path));
  fields.read("nameservers", list);
  fields.read("domain", domain);
  fields.read("search", list);
  fields.read("options", list);
  return fields.done();
}

// The types of all plugins; all elements are looked at for their JSON types before any is for its
// missing `type`, as a decoder does it.
Result<std::vector<std::string>> plugin_types(const json::Value& plugins) {
  const json::Array* elements = plugins.as_array();
  if (elements == nullptr) {
    return json::wrong_kind("plugins", "a list", plugins).wrap(kListFault);
  }
  std::vector<std::string> types;
  for (std::size_t i = 0; i < elements->size(); ++i) {
    const json::Value& element = (*elements)[i];
    const std::string path = cat("plugins[", i, "]");
    if (element.is_null()) {
      types.emplace_back();
      continue;
    }
    const json::Object* plugin = element.as_object();
    if (plugin == nullptr) return json::wrong_kind(path, "an object", element).wrap(kListFault);
    if (auto checked = check_known_members(*plugin, path); !checked) {
      return std::move(checked).error().wrap(kListFault);
    }
    types.push_back(json::text_of(plugin->find_folded("type")));
  }
  if (types.empty() || std::ranges::any_of(types, &std::string::empty)) {
    return Error(Errc::kInvalid, "a plugin delegate must have the 'type' field");
  }
  return types;
}

cni::ConfList list_of(cni::PluginConf conf) {
  cni::ConfList list;
  list.name = conf.name;
  list.version = conf.version;
  list.plugins.push_back(std::move(conf));
  return list;
}

Result<cni::ConfList> list_of_conf(std::string_view text) {
  MNET_TRY(auto&& conf, cni::parse_conf(text, cni::Texts::kDropped));
  return list_of(std::move(conf));
}

Result<cni::ConfList> list_of_text(std::string_view text) {
  auto list = cni::parse_conflist(text, cni::Texts::kDropped);
  // `Plugins` in another spelling passes for a list but is not one (02, J1).
  if (list && list->plugins.empty()) {
    return Error(Errc::kInvalid, "error parsing configuration list: no plugins in list");
  }
  return list;
}

// What parse_delegate() reads before the list is made, so that there is one copy at a time.
struct Members {
  std::string name, type;
  std::vector<std::string> types;  // of its plugins, if it has no type
};

Result<Members> read_members(std::string_view text) {
  auto object = json::parse_object(text);
  if (!object) return std::move(object).error().wrap(kConfFault);
  if (auto checked = check_known_members(*object); !checked) {
    return std::move(checked).error().wrap(kConfFault);
  }
  Members members{.name = json::text_of(object->find_folded("name")),
                  .type = json::text_of(object->find_folded("type")),
                  .types = {}};
  if (!members.type.empty()) return members;
  const json::Value* plugins = object->find_folded("plugins");
  if (plugins == nullptr || plugins->is_null()) {
    return Error(Errc::kInvalid, "delegate must have the 'type' or 'plugin' field");
  }
  MNET_TRY(auto&& types, plugin_types(*plugins));
  members.types = std::move(types);
  return members;
}

}  // namespace

const json::Object& decoded_config(const Delegate& delegate) {
  return delegate.is_list ? delegate.list->object : delegate.list->plugins.front().object;
}

Result<void> check_known_members(const json::Object& config, std::string path) {
  std::string text;
  json::Fields fields(config, std::move(path));
  fields.read("cniVersion", text);
  fields.read("name", text);
  fields.read("type", text);
  fields.object("capabilities", check_capabilities);
  fields.object("ipam", check_ipam);
  fields.object("dns", check_dns);
  fields.object("prevResult",
                [](const json::Object&, const std::string&) { return Result<void>(); });
  fields.list("cni.dev/valid-attachments", cni::check_attachment);
  return fields.done();
}

Result<Delegate> parse_delegate(std::string text) {
  MNET_TRY(auto&& members, read_members(text));
  Delegate delegate;
  delegate.name = delegate.cni_name = std::move(members.name);
  delegate.is_list = members.type.empty();
  delegate.types = std::move(members.types);
  if (!delegate.is_list) delegate.types.push_back(std::move(members.type));
  delegate.list = delegate.is_list ? list_of_text(text) : list_of_conf(text);
  delegate.bytes = std::move(text);
  return delegate;
}

Delegate delegate_of(cni::PluginConf conf) {
  Delegate delegate;
  delegate.name = delegate.cni_name = conf.name;
  delegate.types.push_back(conf.type);
  delegate.bytes = std::exchange(conf.bytes, {});
  delegate.list = list_of(std::move(conf));
  return delegate;
}

Delegate delegate_of(cni::ConfList list) {
  Delegate delegate;
  delegate.name = delegate.cni_name = list.name;
  delegate.is_list = true;
  delegate.from_list_file = true;
  for (const cni::PluginConf& plugin : list.plugins) delegate.types.push_back(plugin.type);
  delegate.bytes = std::exchange(list.bytes, {});
  for (cni::PluginConf& plugin : list.plugins) std::string().swap(plugin.bytes);
  delegate.list = std::move(list);
  return delegate;
}

// A delegate whose list cannot be read is never run, so its types do not matter.
Result<void> check_types(const Delegate& delegate, std::string_view own_type) {
  if (!delegate.list) return {};
  const json::Object& config = decoded_config(delegate);
  MNET_TRY_VOID(cni::check_types(config, own_type));
  return cni::check_names(config);
}

Result<void> check_allowed_types(const Delegate& delegate,
                                 const std::optional<std::vector<std::string>>& allowed) {
  if (!allowed || !delegate.list) return {};
  return cni::check_allowed_types(decoded_config(delegate), *allowed);
}

void set_bytes(Delegate& delegate, std::string bytes) {
  delegate.list = delegate.is_list ? list_of_text(bytes) : list_of_conf(bytes);
  delegate.bytes = std::move(bytes);
}

Result<std::string> with_cni_version(std::string_view bytes, std::string_view version) {
  auto object = json::parse_object(bytes);
  if (!object) return std::move(object).error().wrap("failed to unmarshal the configuration");
  object->set("cniVersion", version);
  return json::dump(*std::move(object));
}

std::string interface_name(const Delegate& delegate, std::size_t index,
                           std::string_view cni_ifname) {
  if (!delegate.selection.ifname.empty()) return delegate.selection.ifname;
  if (delegate.is_master) return std::string(cni_ifname);
  return cat("net", index);
}

}  // namespace mnet::model
