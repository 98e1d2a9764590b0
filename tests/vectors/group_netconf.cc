#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log_options.h"
#include "base/result.h"
#include "base/try.h"
#include "cni/result.h"
#include "groups.h"
#include "json/json.h"
#include "model/delegate.h"
#include "model/netconf.h"
#include "model/runtime_config.h"

namespace mnet::vectors {
namespace {

json::Value delegates(const std::vector<model::Delegate>& all) {
  json::Array out;
  for (const model::Delegate& delegate : all) {
    json::Object item{
        {"name", delegate.name}, {"master", delegate.is_master}, {"conflist", delegate.is_list}};
    if (delegate.is_list) {
      item.append("plugins", delegate.types);
    } else {
      item.append("type", delegate.types.front());
    }
    out.emplace_back(std::move(item));
  }
  return out;
}

template <typename T>
json::Value or_null(const std::optional<T>& value) {
  return value ? json::Value(*value) : json::Value();
}

json::Value log_options(const std::optional<LogOptions>& options) {
  if (!options) return nullptr;
  return json::Object{{"maxAge", or_null(options->max_age)},
                      {"maxSize", or_null(options->max_size)},
                      {"maxBackups", or_null(options->max_backups)},
                      {"compress", or_null(options->compress)}};
}

json::Object fields(const model::NetConf& conf) {
  return {
      {"cniVersion", conf.cni_version},
      {"name", conf.name},
      {"type", conf.type},
      {"confDir", conf.conf_dir},
      {"cniDir", conf.cni_dir},
      {"binDir", conf.bin_dir},
      {"clusterNetwork", conf.cluster_network},
      {"defaultNetworks", or_null(conf.default_networks)},
      {"delegates", delegates(conf.delegates)},
      {"auxiliaryCNIChainName", conf.auxiliary_chain_name},
      {"kubeconfig", conf.kubeconfig},
      {"multusNamespace", conf.multus_namespace},
      {"systemNamespaces", conf.system_namespaces},
      {"namespaceIsolation", conf.namespace_isolation},
      {"nonIsolatedNamespaces", conf.non_isolated_namespaces},
      {"readinessindicatorfile", conf.readiness_indicator_file},
      {"retryDeleteOnError", conf.retry_delete_on_error},
      {"logFile", conf.log_file},
      {"logLevel", conf.log_level},
      {"logToStderr", conf.log_to_stderr},
      {"logOptions", log_options(conf.log_options)},
      {"runtimeConfig",
       conf.runtime_config ? json::Value(model::to_json(*conf.runtime_config)) : json::Value()},
      {"prevResult",
       conf.prev_result ? json::Value(cni::to_json(*conf.prev_result)) : json::Value()},
  };
}

Result<json::Object> load(const json::Object& input) {
  MNET_TRY(auto&& config, text_of(input, "config"));
  MNET_TRY(auto&& document, model::parse_netconf(config));
  MNET_TRY(auto&& conf, model::read_netconf(std::move(document)));
  return json::Object{{"fields", fields(conf)}};
}

}  // namespace

Group netconf_group() { return {.name = "netconf", .operations = {{"", load}}}; }

}  // namespace mnet::vectors
