#include "server_daemon.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/log_options.h"
#include "base/result.h"
#include "base/try.h"
#include "daemon/config.h"
#include "daemon/service_fixture.h"
#include "group.h"
#include "json/fields.h"
#include "json/json.h"

namespace mnet::vectors {
namespace {

template <typename T>
json::Value or_null(const std::optional<T>& value) {
  return value ? json::Value(*value) : json::Value();
}

json::Value certificate(const std::optional<daemon::PerNodeCertificate>& value) {
  if (!value) return {};
  return json::Object{{"enabled", value->enabled},
                      {"bootstrapKubeconfig", value->bootstrap_kubeconfig},
                      {"certDir", value->cert_dir},
                      {"certDuration", value->cert_duration}};
}

json::Value log_options(const std::optional<LogOptions>& value) {
  if (!value) return {};
  return json::Object{{"maxAge", or_null(value->max_age)},
                      {"maxSize", or_null(value->max_size)},
                      {"maxBackups", or_null(value->max_backups)},
                      {"compress", or_null(value->compress)}};
}

json::Object serving_fields(const daemon::Config& config) {
  return {{"chrootDir", config.chroot_dir},
          {"socketDir", config.socket_dir},
          {"logFile", config.log_file},
          {"logLevel", config.log_level},
          {"logToStderr", config.log_to_stderr.value_or(false)},
          {"logOptions", log_options(config.log_options)},
          {"connectionLimit", or_null(config.connection_limit)},
          {"metricsPort", or_null(config.metrics_port)},
          {"enablePprof", or_null(config.enable_pprof)},
          {"perNodeCertificate", certificate(config.per_node_certificate)},
          {"metricsAddress", config.metrics_address},
          {"maxRequestBytes", config.max_request_bytes},
          {"delegateTimeout", std::int64_t{config.delegate_timeout.count()}},
          {"maxDelegates", or_null(config.max_delegates)},
          {"delegateMountNamespace", config.delegate_mount_namespace},
          {"objectsDir", config.objects_dir}};
}

json::Object node_fields(const daemon::Config& config) {
  return {{"daemonSocketDir", config.daemon_socket_dir},
          {"multusConfigFile", config.multus_config_file},
          {"multusAutoconfigDir", config.multus_autoconfig_dir},
          {"cniConfigDir", config.cni_config_dir},
          {"multusMasterCNI", config.multus_master_cni},
          {"cniVersion", config.cni_version},
          {"forceCNIVersion", config.force_cni_version},
          {"overrideNetworkName", config.override_network_name},
          {"cleanupConfigOnExit", config.cleanup_config_on_exit},
          {"readinessindicatorfile", config.readiness_indicator_file},
          {"type", config.type},
          {"capabilities", config.capabilities},
          {"binDir", config.bin_dir},
          {"cniDir", config.cni_dir},
          {"clusterNetwork", config.cluster_network},
          {"namespaceIsolation", config.namespace_isolation},
          {"globalNamespaces", config.global_namespaces},
          {"auxiliaryCNIChainName", config.auxiliary_chain_name},
          {"shimTimeout", or_null(config.shim_timeout)}};
}

}  // namespace

Result<json::Object> daemon_config(const json::Object& input) {
  MNET_TRY(auto&& text, text_of(input, "config"));
  MNET_TRY(const auto& config, daemon::parse_config(text));
  json::Object fields = serving_fields(config);
  for (auto& [key, value] : node_fields(config)) fields.set(key, value);
  return json::Object{{"fields", std::move(fields)}};
}

Result<json::Object> http_status(const json::Object& input) {
  std::string method, path, body;
  bool is_stopping = false;
  json::Fields fields(input);
  fields.read("method", method);
  fields.read("path", path);
  fields.read("body", body);
  fields.read("shutting_down", is_stopping);
  if (auto read = fields.done(); !read) return Error(Errc::kBug, read.error().text());
  daemon::TestService service;
  if (is_stopping) service.with([](daemon::Service& inside) { inside.readiness.stop(); });
  return json::Object{{"status", service.ask(method, path, body).status}};
}

}  // namespace mnet::vectors
