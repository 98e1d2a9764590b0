#include "daemon/node_config.h"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/log_options.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "daemon/config.h"
#include "json/at.h"
#include "json/json.h"
#include "nodeconf/generate.h"
#include "nodeconf/manager.h"
#include "sys/copy_file.h"
#include "sys/file.h"

namespace mnet::daemon {
namespace {

template <typename T>
void add(json::Object& out, const char* key, const std::optional<T>& value) {
  if (value) out.append(key, *value);
}

json::Object options_of(const LogOptions& options) {
  json::Object out;
  add(out, "maxAge", options.max_age);
  add(out, "maxSize", options.max_size);
  add(out, "maxBackups", options.max_backups);
  add(out, "compress", options.compress);
  return out;
}

}  // namespace

Result<json::Object> users_configuration(const Config& config) {
  if (config.is_automatic()) return json::Object();
  const auto text = sys::read_file(config.multus_config_file);
  if (!text && text.error().code() == Errc::kNotFound) return json::Object();
  if (!text) return text.error();
  MNET_TRY(auto&& document, json::parse_object(*text));
  const json::Value* plugins = document.find("plugins");
  if (json::elements_of(plugins).empty()) return std::move(document);
  const json::Object* first = json::first_object_of(plugins);
  return first == nullptr ? json::Object() : *first;
}

Result<void> sweep_config_dir(const Config& config) {
  return sys::sweep_temporaries(clean_path(config.cni_config_dir), sys::kTemporaryAge);
}

std::string autoconfig_dir(const Config& config) {
  return clean_path(config.multus_autoconfig_dir.empty() ? config.cni_config_dir
                                                         : config.multus_autoconfig_dir);
}

nodeconf::Settings node_settings(const Config& config) {
  nodeconf::Settings settings;
  settings.bin_dir = config.bin_dir;
  for (const auto& [name, value] : config.capabilities) {
    settings.capabilities[name] = json::is_true(&value);
  }
  settings.cni_version = config.cni_version;
  settings.log_file = config.log_file;
  settings.log_level = config.log_level;
  settings.log_to_stderr = config.log_to_stderr.value_or(false);
  if (config.log_options) settings.log_options = options_of(*config.log_options);
  settings.namespace_isolation = config.namespace_isolation;
  settings.global_namespaces = config.global_namespaces;
  settings.type = config.type;
  settings.cni_dir = config.cni_dir;
  settings.auxiliary_chain_name = config.auxiliary_chain_name;
  settings.daemon_socket_dir = config.daemon_socket_dir;
  settings.override_network_name = config.override_network_name;
  settings.shim_timeout = config.shim_timeout;
  return settings;
}

nodeconf::ManagerOptions manager_options(const Config& config) {
  nodeconf::ManagerOptions options;
  options.settings = node_settings(config);
  options.autoconfig_dir = autoconfig_dir(config);
  options.cni_config_dir = clean_path(config.cni_config_dir);
  options.master = config.multus_master_cni;
  options.indicator = config.readiness_indicator_file;
  options.forces_version = config.force_cni_version;
  return options;
}

Result<void> copy_user_config(const Config& config) {
  const std::filesystem::path source = config.multus_config_file;
  const std::filesystem::path target =
      std::filesystem::path(config.cni_config_dir) / source.filename();
  auto copied = sys::copy_file(source.string(), target.string(), 0600);
  if (copied) return {};
  return std::move(copied).error().wrap(
      cat("failed to copy the user provided configuration ", source.string()));
}

}  // namespace mnet::daemon
