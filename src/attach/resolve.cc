#include "attach/resolve.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cni/conf.h"

namespace mnet::attach {
namespace {

bool is_path(const std::string& network) { return network.contains('/'); }

bool is_system_namespace(const Job& job) {
  const auto& names = job.conf.system_namespaces;
  return std::ranges::find(names, job.pod.ns) != names.end();
}

// `{"cniVersion":…,"name":…,"plugins":[passthru]}` and the plugins of its directory.
Result<cni::ConfList> auxiliary_list(const NetConf& conf,
                                     const std::vector<cni::PluginConf>& plugins) {
  const json::Object passthru{{"type", "passthru"}, {"name", "passthru-cni"}};
  const json::Object list{{"cniVersion", conf.cni_version},
                          {"name", conf.auxiliary_chain_name},
                          {"plugins", json::Array{json::Value(passthru)}}};
  auto head = cni::parse_conflist(json::dump(list));
  if (!head) return std::move(head).error();
  return cni::with_plugins(*head, plugins);
}

}  // namespace

aio::Task<Delegate> Resolver::look_up(std::string network) {
  if (!is_path(network)) {
    co_return Error(Errc::kInvalid, "must have either Kubernetes config or delegates");
  }
  auto found = co_await core_.ports.networks.by_path(std::move(network));
  co_return found;
}

aio::Task<Delegate> Resolver::master() {
  const NetConf& conf = job_.conf;
  if (conf.cluster_network.empty()) {
    if (!conf.delegates.empty()) co_return conf.delegates.front();
    co_return Error(Errc::kInvalid, "at least one delegate/clusterNetwork must be specified");
  }
  auto master = co_await look_up(conf.cluster_network);
  if (!master) {
    co_return std::move(master).error().wrap(cat("failed to get clusterNetwork ",
                                                 conf.cluster_network, " in namespace ",
                                                 conf.multus_namespace));
  }
  master->is_master = true;
  co_return master;
}

aio::Task<std::vector<Delegate>> Resolver::default_networks() {
  std::vector<Delegate> delegates;
  if (job_.conf.cluster_network.empty() || !job_.conf.default_networks) co_return delegates;
  for (const std::string& network : *job_.conf.default_networks) {
    auto delegate = co_await look_up(network);
    if (!delegate) {
      co_return std::move(delegate).error().wrap(cat("failed to get default network ", network));
    }
    delegates.push_back(*std::move(delegate));
  }
  co_return delegates;
}

aio::Task<std::optional<Delegate>> Resolver::auxiliary_chain() {
  const std::string& name = job_.conf.auxiliary_chain_name;
  if (name.empty()) co_return std::optional<Delegate>();
  if (!is_path(job_.conf.cluster_network)) {
    co_return Error(Errc::kInvalid, "auxiliaryCNIChainName is set: ClusterNetwork must be a path");
  }
  auto plugins = co_await core_.ports.networks.auxiliary_plugins(job_.conf.cluster_network, name);
  auto list = plugins ? auxiliary_list(job_.conf, *plugins)
                      : Result<cni::ConfList>(std::move(plugins).error());
  if (!list) {
    // A broken chain must not keep pods from starting (02, 3.9).
    job_.log.error(cat("auxiliary chain ", go_quoted(name), " is left out"), list.error());
    co_return std::optional<Delegate>();
  }
  if (list->plugins.size() < 2) co_return std::optional<Delegate>();
  co_return std::optional<Delegate>(delegate_of(*std::move(list)));
}

aio::Task<std::vector<Delegate>> Resolver::delegates() {
  std::vector<Delegate> delegates = job_.conf.delegates;
  if (delegates.empty()) {
    auto first = co_await master();
    if (!first) co_return std::move(first).error();
    delegates.push_back(*std::move(first));
    if (!is_system_namespace(job_)) {
      auto more = co_await default_networks();
      if (!more) co_return std::move(more).error();
      std::ranges::move(*more, std::back_inserter(delegates));
    }
  }
  auto chain = co_await auxiliary_chain();
  if (!chain) co_return std::move(chain).error();
  if (*chain) delegates.push_back(**std::move(chain));
  co_return delegates;
}

aio::Task<Resolver::Resolved> Resolver::resolve() {
  auto found = co_await delegates();
  if (!found) {
    co_return std::move(found).error().wrap("failed to get clusterNetwork/defaultNetworks");
  }
  Resolved resolved;
  resolved.delegates = *std::move(found);
  co_return resolved;
}

}  // namespace mnet::attach
