#include "our_reading.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/try.h"
#include "cni/conf.h"
#include "cni/result.h"
#include "daemon/config.h"
#include "json/json.h"
#include "model/delegate.h"
#include "model/nad.h"
#include "model/netconf.h"
#include "model/networks_annotation.h"
#include "model/objects.h"
#include "model/runtime_config.h"
#include "model/selection_element.h"

namespace mnet::readers {
namespace {

void text(json::Object& out, std::string key, const std::string& value) {
  if (!value.empty()) out.append(std::move(key), value);
}

void flag(json::Object& out, std::string key, bool value) {
  if (value) out.append(std::move(key), true);
}

void list(json::Object& out, std::string key, const std::vector<std::string>& values) {
  if (!values.empty()) out.append(std::move(key), values);
}

template <typename T>
void present(json::Object& out, std::string key, const std::optional<T>& value) {
  if (value) out.append(std::move(key), *value);
}

json::Object reading_of(const cni::PluginConf& conf) {
  json::Object out{{"type", conf.type}};
  text(out, "ipam", conf.ipam_type);
  json::Object capabilities;
  for (const auto& [name, is_on] : conf.capabilities) capabilities.append(name, is_on);
  if (!capabilities.empty()) out.append("capabilities", std::move(capabilities));
  return out;
}

json::Object reading_of(const cni::ConfList& conf) {
  json::Object out;
  text(out, "name", conf.name);
  text(out, "cniVersion", conf.version);
  flag(out, "disableCheck", conf.disable_check);
  flag(out, "disableGC", conf.disable_gc);
  json::Array plugins;
  for (const cni::PluginConf& plugin : conf.plugins) plugins.emplace_back(reading_of(plugin));
  out.append("plugins", std::move(plugins));
  return out;
}

// One that cannot be run is as good as refused.
Result<json::Value> reading_of(const model::Delegate& delegate) {
  if (!delegate.list) return delegate.list.error();
  json::Object out;
  text(out, "name", delegate.name);
  flag(out, "isList", delegate.is_list);
  out.append("types", delegate.types);
  out.append("runs", reading_of(*delegate.list));
  return json::Value(std::move(out));
}

template <typename Options>
json::Object log_options(const Options& options) {
  json::Object out;
  present(out, "maxAge", options.max_age);
  present(out, "maxSize", options.max_size);
  present(out, "maxBackups", options.max_backups);
  present(out, "compress", options.compress);
  return out;
}

void append_logging(const model::NetConf& conf, json::Object& out) {
  text(out, "logFile", conf.log_file);
  text(out, "logLevel", conf.log_level);
  flag(out, "logToStderr", conf.log_to_stderr);
  if (conf.log_options) out.append("logOptions", log_options(*conf.log_options));
}

void append_namespaces(const model::NetConf& conf, json::Object& out) {
  flag(out, "namespaceIsolation", conf.namespace_isolation);
  list(out, "systemNamespaces", conf.system_namespaces);
  text(out, "multusNamespace", conf.multus_namespace);
  list(out, "globalNamespaces", conf.non_isolated_namespaces);
}

void append_node_configuration(const daemon::Config& config, json::Object& out) {
  text(out, "binDir", config.bin_dir);
  if (!config.capabilities.empty()) out.append("capabilities", config.capabilities);
  text(out, "cniVersion", config.cni_version);
  text(out, "clusterNetwork", config.cluster_network);
  flag(out, "namespaceIsolation", config.namespace_isolation);
  text(out, "globalNamespaces", config.global_namespaces);
  text(out, "readinessindicatorfile", config.readiness_indicator_file);
  text(out, "type", config.type);
  text(out, "cniDir", config.cni_dir);
  text(out, "cniConfigDir", config.cni_config_dir);
  text(out, "auxiliaryCNIChainName", config.auxiliary_chain_name);
  text(out, "daemonSocketDir", config.daemon_socket_dir);
  text(out, "multusConfigFile", config.multus_config_file);
  text(out, "multusMasterCNI", config.multus_master_cni);
  text(out, "multusAutoconfigDir", config.multus_autoconfig_dir);
  flag(out, "forceCNIVersion", config.force_cni_version);
  flag(out, "overrideNetworkName", config.override_network_name);
}

json::Object reading_of(const daemon::PerNodeCertificate& certificate) {
  json::Object out;
  flag(out, "enabled", certificate.enabled);
  text(out, "bootstrapKubeconfig", certificate.bootstrap_kubeconfig);
  text(out, "certDir", certificate.cert_dir);
  text(out, "certDuration", certificate.cert_duration);
  return out;
}

}  // namespace

Result<json::Value> read_networks(std::string_view input) {
  MNET_TRY(const auto& networks, model::parse_networks_annotation(input, "ns"));
  json::Array out;
  for (const model::NetworkSelectionElement& network : networks) {
    json::Object element = model::attributes_of(network);
    element.append("name", network.name);
    element.append("namespace", network.ns);
    text(element, "interface", network.ifname);
    out.emplace_back(std::move(element));
  }
  return json::Value(std::move(out));
}

Result<json::Value> read_delegate(std::string_view input) {
  model::NetworkDefinition definition;
  definition.config = input;
  if (auto config = model::configuration_of(definition); !config) {
    return std::move(config).error();
  }
  MNET_TRY(const auto& delegate, model::parse_delegate(std::string(input)));
  MNET_TRY_VOID(model::check_types(delegate, ""));
  return reading_of(delegate);
}

Result<json::Value> read_netconf(std::string_view input) {
  MNET_TRY(auto&& document, model::parse_netconf(input));
  MNET_TRY(auto&& conf, model::read_netconf(std::move(document)));
  json::Object out;
  text(out, "cniVersion", conf.cni_version);
  text(out, "name", conf.name);
  text(out, "type", conf.type);
  text(out, "confDir", conf.conf_dir);
  text(out, "cniDir", conf.cni_dir);
  text(out, "binDir", conf.bin_dir);
  text(out, "clusterNetwork", conf.cluster_network);
  if (conf.default_networks) list(out, "defaultNetworks", *conf.default_networks);
  text(out, "kubeconfig", conf.kubeconfig);
  append_logging(conf, out);
  append_namespaces(conf, out);
  if (conf.runtime_config) {
    conf.runtime_config->others = {};
    out.append("runtimeConfig", model::to_json(*conf.runtime_config));
  }
  text(out, "readinessindicatorfile", conf.readiness_indicator_file);
  text(out, "auxiliaryCNIChainName", conf.auxiliary_chain_name);
  flag(out, "retryDeleteOnError", conf.retry_delete_on_error);
  if (conf.prev_result) out.append("prevResult", cni::to_json(*conf.prev_result));
  json::Array delegates;
  for (const model::Delegate& delegate : conf.delegates) {
    MNET_TRY(auto&& reading, reading_of(delegate));
    delegates.push_back(std::move(reading));
  }
  if (!delegates.empty()) out.append("delegates", std::move(delegates));
  return json::Value(std::move(out));
}

Result<json::Value> read_result(std::string_view input) {
  MNET_TRY(const auto& document, json::parse(input));
  MNET_TRY(const auto& result, cni::read_result(document));
  return json::Value(cni::to_json(result));
}

Result<json::Value> read_daemon_config(std::string_view input) {
  MNET_TRY(const auto& config, daemon::parse_config(input));
  json::Object out;
  text(out, "chrootDir", config.chroot_dir);
  text(out, "logFile", config.log_file);
  text(out, "logLevel", config.log_level);
  flag(out, "logToStderr", config.log_to_stderr.value_or(false));
  text(out, "socketDir", config.socket_dir);
  if (config.per_node_certificate) {
    out.append("perNodeCertificate", reading_of(*config.per_node_certificate));
  }
  present(out, "connectionLimit", config.connection_limit);
  present(out, "metricsPort", config.metrics_port);
  present(out, "enablePprof", config.enable_pprof);
  append_node_configuration(config, out);
  return json::Value(std::move(out));
}

Result<json::Value> read_any(std::string_view input) { return json::parse(input); }

}  // namespace mnet::readers
