#include "lint/config_rules.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/spelling.h"
#include "base/text.h"
#include "cni/names.h"
#include "cni/version.h"
#include "json/at.h"
#include "json/json.h"
#include "lint/lint.h"
#include "lint/plugins.h"
#include "yaml/places.h"

namespace mnet::lint {
namespace {

using namespace std::string_view_literals;

// `type` of a plugin or of its `ipam`.
void check_type(const std::string& type, const std::string& pointer, const Options& options,
                Reporter& report) {
  if (type.empty()) return;
  if (options.plugins && options.plugins->contains(type)) return;
  const auto known = known_types();
  const bool is_known = std::ranges::find(known, type) != known.end();
  const std::string meant = is_known ? std::string() : suggestion(type, known);
  if (!meant.empty()) {
    report.value(pointer, "MN012", cat("unknown type ", go_quoted(type), meant));
  } else if (options.plugins) {
    report.value(pointer, "MN012",
                 cat("no plugin ", go_quoted(type), " in ", options.plugins_from));
  }
}

bool is_among(std::string_view key, std::span<const std::string_view> keys) {
  return std::ranges::any_of(keys, [key](auto known) { return json::is_spelling_of(key, known); });
}

void check_keys(const json::Object& object, std::span<const std::string_view> keys,
                const std::string& pointer, std::string_view owner, Reporter& report) {
  std::vector<std::string_view> all(keys.begin(), keys.end());
  const auto common = common_keys();
  all.insert(all.end(), common.begin(), common.end());
  for (const auto& [key, value] : object) {
    if (is_among(key, all)) continue;
    const std::string meant = suggestion(key, all);
    if (meant.empty()) continue;
    report.key(below(pointer, key), "MN014",
               cat("unknown key ", go_quoted(key), " of ", owner, meant));
  }
}

void check_version(const json::Object& config, Reporter& report) {
  const std::string version = json::text_at(config, {"cniVersion"});
  if (version.empty() || cni::is_supported(version)) return;
  report.value("/cniVersion", "MN015", unknown_version(version));
}

void check_name(const json::Object& config, Reporter& report) {
  const std::string name = json::text_at(config, {"name"});
  if (name.empty()) return;
  if (auto valid = cni::validate_network_name(name); !valid) {
    report.value("/name", "MN023", valid.error().text());
  }
}

void check_host_device(const PluginPart& plugin, Reporter& report) {
  if (plugin.type != "host-device") return;
  for (const auto key :
       {"device"sv, "hwaddr"sv, "kernelpath"sv, "pciBusID"sv, "auxDevice"sv, "runtimeConfig"sv}) {
    if (plugin.conf.find_folded(key) != nullptr) return;
  }
  const json::Object* capabilities = json::as_object(plugin.conf.find_folded("capabilities"));
  if (capabilities != nullptr && capabilities->find("deviceID") != nullptr) return;
  report.value(plugin.pointer, "MN018",
               "host-device needs \"device\", \"hwaddr\", \"kernelpath\" or \"pciBusID\", or the "
               "capability deviceID and a resource");
}

// The runtime may bring them.
void check_has_ranges(const PluginPart& plugin, const json::Object& ipam,
                      const std::string& pointer, Reporter& report) {
  const auto* sets = json::as_array(ipam.find_folded("ranges"));
  if (ipam.find_folded("subnet") != nullptr || (sets != nullptr && !sets->empty())) return;
  const json::Object* capabilities = json::as_object(plugin.conf.find_folded("capabilities"));
  if (capabilities != nullptr && json::is_true(capabilities->find("ipRanges"))) return;
  if (plugin.conf.find_folded("runtimeConfig") != nullptr) return;
  report.value(pointer, "MN018",
               "host-local needs \"subnet\" or \"ranges\", or the capability ipRanges");
}

void check_plugin(const PluginPart& plugin, const Options& options, Reporter& report) {
  check_type(plugin.type, below(plugin.pointer, "type"), options, report);
  if (const KnownPlugin* known = find_plugin(plugin.type, false); known && !known->keys.empty()) {
    check_keys(plugin.conf, known->keys, plugin.pointer, plugin.type, report);
  }
  check_values(plugin, report);
  const json::Object* ipam = json::as_object(plugin.conf.find_folded("ipam"));
  if (ipam == nullptr || ipam->empty()) return;
  const std::string pointer = below(plugin.pointer, "ipam");
  const std::string type = json::text_of(ipam->find_folded("type"));
  if (type.empty()) return report.value(pointer, "MN018", "ipam needs \"type\"");
  check_type(type, below(pointer, "type"), options, report);
  if (const KnownPlugin* known = find_plugin(type, true)) {
    check_keys(*ipam, known->keys, pointer, type, report);
  }
  if (type == "host-local") check_has_ranges(plugin, *ipam, pointer, report);
  check_ipam(plugin, *ipam, report);
}

}  // namespace

std::string below(std::string_view pointer, std::string_view key) {
  return cat(pointer, yaml::pointer_step(key));
}

std::string unknown_version(std::string_view version) {
  return cat("CNI version ", go_quoted(version), " is not known; use one of ",
             join(cni::all_versions(), ", "));
}

std::vector<PluginPart> plugins_of(const json::Object& config) {
  std::vector<PluginPart> parts;
  if (const std::string type = json::text_of(config.find_folded("type")); !type.empty()) {
    parts.push_back({config, "", type});
    return parts;
  }
  const json::Array* plugins = json::as_array(config.find_folded("plugins"));
  for (std::size_t i = 0; plugins != nullptr && i < plugins->size(); ++i) {
    const json::Object* plugin = (*plugins)[i].as_object();
    if (plugin == nullptr) continue;
    parts.push_back({*plugin, cat("/plugins/", i), json::text_of(plugin->find_folded("type"))});
  }
  return parts;
}

void check_config(const json::Object& config, const Options& options, Reporter& report) {
  check_version(config, report);
  check_name(config, report);
  const std::vector<PluginPart> plugins = plugins_of(config);
  const bool is_list = plugins.empty() || !plugins.front().pointer.empty();
  if (is_list) {
    check_keys(config, {}, "", "a network", report);
  } else if (config.find_folded("plugins") != nullptr) {
    report.key(
        "/plugins", "MN022",
        "plugins has no effect beside type: a configuration is one plugin or a list of them");
  }
  check_order(plugins, report);
  for (const PluginPart& plugin : plugins) {
    check_plugin(plugin, options, report);
    check_host_device(plugin, report);
  }
}

}  // namespace mnet::lint
