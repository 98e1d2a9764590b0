#include "attach/resolve.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "attach/core.h"
#include "attach/network_finder.h"
#include "attach/request.h"
#include "attach/resource_map.h"
#include "attach/room.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/conf.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/default_routes.h"
#include "model/delegate.h"
#include "model/event_reasons.h"
#include "model/inject.h"
#include "model/nad.h"
#include "model/netconf.h"
#include "model/objects.h"
#include "model/requested_networks.h"
#include "model/selection_element.h"

namespace mnet::attach {
namespace {

// Which part failed (02, 0.4).
constexpr std::string_view kConfiguredFault = "failed to get clusterNetwork/defaultNetworks";
constexpr std::string_view kPodFault = "error loading k8s delegates k8s args";
constexpr std::string_view kNotDeleted = "DEL of a container without a record continues";

bool is_system_namespace(const Job& job) {
  const auto& names = job.conf.system_namespaces;
  return std::ranges::find(names, job.pod.ns) != names.end();
}

// `{"cniVersion":…,"name":…,"plugins":[passthru]}` and the plugins of its directory.
Result<cni::ConfList> auxiliary_list(const model::NetConf& conf,
                                     const std::vector<cni::PluginConf>& plugins) {
  const json::Object passthru{{"type", "passthru"}, {"name", "passthru-cni"}};
  const json::Object list{{"cniVersion", conf.cni_version},
                          {"name", conf.auxiliary_chain_name},
                          {"plugins", json::Array{json::Value(passthru)}}};
  MNET_TRY(auto&& head, cni::parse_conflist(json::dump(list)));
  return cni::with_plugins(head, plugins);
}

std::string hash_of(const model::Delegate& delegate) {
  if (!delegate.list) return {};  // its ADD fails
  return model::config_hash(model::decoded_config(delegate));
}

model::RequestedNetwork selected(model::Source source, model::NetworkSelectionElement element) {
  return {.source = source, .selection = std::move(element)};
}

// Whether the second takes the first one's place.
bool is_overridden(const std::vector<model::RequestedNetwork>& networks) {
  return networks.size() > 1 && networks[1].source == model::Source::kCluster;
}

Error nothing_configured() {
  return Error(Errc::kInvalid, "at least one delegate/clusterNetwork must be specified");
}

}  // namespace

// How much the named networks weigh is known only once the annotations are read, so room for the
// annotations themselves is taken first.
aio::Task<void> Resolver::take_room_for_annotations() {
  if (pod_ == nullptr) co_return Result<void>();
  Room* room = core_.ports.room;
  const bool is_long =
      room != nullptr && (pod_->is_cut || model::annotation_weight(*pod_).total() > room->free());
  if (is_long) MNET_CO_TRY_VOID(co_await job_.take_room(room, kLargestWeight));
  if (pod_->is_cut) co_return co_await read_whole_pod();
  co_return Result<void>();
}

aio::Task<void> Resolver::read_whole_pod() {
  MNET_CO_TRY(auto&& whole, co_await aio::with_deadline(
                                core_.ports.source->find_pod(job_.pod_lookup()), reads_end_));
  if (whole == nullptr) co_return Error(Errc::kNotFound, "the pod was deleted meanwhile");
  pod_ = std::move(whole);
  co_return Result<void>();
}

Result<std::size_t> Resolver::weigh(const std::vector<model::RequestedNetwork>& networks) {
  model::Weight weight = finder_.weigh(networks);
  if (auto checked = check_weight(weight); !checked) {
    warn_pod(model::kNoNetworkFound, checked.error().text());
    return std::move(checked).error().wrap("failed getting the delegate").wrap(kPodFault);
  }
  if (pod_ != nullptr) weight += model::annotation_weight(*pod_);
  return std::min(weight.total(), kLargestWeight);
}

// The override stands after the master that it replaces. The master is looked up all the same: a
// node without its cluster network is broken for this pod, too (02, 3.2).
aio::Task<std::vector<model::RequestedNetwork>> Resolver::wanted() {
  model::PodNetworks selection;
  if (pod_ != nullptr) {
    if (pod_->is_cut) co_return Error(Errc::kUnavailable, "the pod's annotations were not read");
    Result<model::PodNetworks> read;
    if (core_.ports.pool != nullptr && model::has_long_annotation(*pod_)) {
      read = co_await core_.ports.pool->run(
          [conf = job_.request.conf, pod = pod_] { return model::read_pod_networks(*conf, *pod); });
    } else {
      read = model::read_pod_networks(job_.conf, *pod_);
    }
    if (!read) {
      const bool denied = read.error().code() == Errc::kDenied;
      warn_pod(denied ? model::kInterfaceAddRejected : model::kInvalidNetworksAnnotation,
               read.error().text());
      co_return std::move(read).error().wrap(kPodFault);
    }
    selection = *std::move(read);
  }
  auto wanted = model::configured_networks(
      job_.conf, !selection.skips_default_networks && !is_system_namespace(job_));
  if (wanted.empty()) co_return nothing_configured();
  if (selection.default_network) {
    warn_of_ifname(*selection.default_network);
    wanted.insert(wanted.begin() + 1,
                  selected(model::Source::kCluster, *selection.default_network));
  }
  for (model::NetworkSelectionElement& element : selection.networks) {
    wanted.push_back(selected(model::Source::kAnnotation, std::move(element)));
  }
  co_return wanted;
}

aio::Task<std::vector<model::RequestedNetwork>> Resolver::wanted_with_room() {
  MNET_CO_TRY_VOID(co_await take_room_for_annotations());
  MNET_CO_TRY(auto&& networks, co_await wanted());
  MNET_CO_TRY(const std::size_t weight, weigh(networks));
  MNET_CO_TRY_VOID(co_await job_.take_room(core_.ports.room, weight));
  job_.room->keep(weight);  // of what it took for its annotations
  if (const Room* room = core_.ports.room) {
    finder_.expect(std::max(room->free(), job_.room->weight()));
  }
  co_return std::move(networks);
}

void Resolver::warn_of_ifname(const model::NetworkSelectionElement& default_network) const {
  const std::string& ifname = default_network.ifname;
  if (ifname.empty()) return;
  job_.log.warning(cat("annotation ", model::kDefaultNetworkAnnotation,
                       " renames the pod's main interface ", job_.request.ifname, " to ",
                       excerpt(ifname), "; container runtimes look for the former in the result"));
}

aio::Task<Resolver::Resolved> Resolver::resolve() {
  is_whole_ = true;
  MNET_CO_TRY(auto&& networks, co_await wanted_with_room());
  const bool overridden = is_overridden(networks);
  MNET_CO_TRY(auto&& found, co_await find_all(std::move(networks)));
  if (overridden) found.erase(found.begin());
  found.front().delegate.is_master = true;
  MNET_CO_TRY(auto&& delegates, co_await complete(std::move(found)));
  auto chain = co_await auxiliary_chain();
  if (!chain) co_return std::move(chain).error().wrap(kConfiguredFault);
  if (*chain) delegates.push_back(**std::move(chain));

  Resolved resolved;
  auto routes = model::plan_default_routes(delegates);
  if (!routes) co_return std::move(routes).error().wrap(kPodFault);
  resolved.routes = *std::move(routes);
  resolved.delegates = std::move(delegates);
  co_return resolved;
}

aio::Task<std::vector<Resolver::Found>> Resolver::find_all(
    std::vector<model::RequestedNetwork> networks) {
  std::vector<Result<Found>> all = co_await finder_.find_all(networks);
  tell_of_failures(networks, all);
  std::vector<Found> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i]) co_return explained(std::move(all[i]).error(), networks[i]);
    found.push_back(*std::move(all[i]));
  }
  co_return found;
}

Error Resolver::explained(Error error, const model::RequestedNetwork& wanted) const {
  if (wanted.selection) {
    if (error.code() == Errc::kNotFound) {
      error = error.with_text(cat(error.text(), "; create it, or correct the pod's annotation"));
    }
    return std::move(error).wrap("failed getting the delegate").wrap(kPodFault);
  }
  if (wanted.given) return is_whole_ ? std::move(error).wrap(kConfiguredFault) : error;
  const std::string& name = wanted.configured;
  if (error.code() == Errc::kNotFound && !is_path(name)) {
    error = std::move(error).wrap("cannot find network");
  }
  if (wanted.source == model::Source::kCluster) {
    error = std::move(error).wrap(
        cat("failed to get clusterNetwork ", name, " in namespace ", job_.conf.multus_namespace));
  } else {
    error = std::move(error).wrap(cat("failed to get default network ", name));
  }
  return is_whole_ ? std::move(error).wrap(kConfiguredFault) : error;
}

void Resolver::warn_pod(std::string reason, std::string message) const {
  // A pod that is being deleted need not learn what it will not get.
  if (pod_ == nullptr || core_.ports.source == nullptr || job_.verb == Verb::kDel) return;
  if (is_told_) return;
  core_.ports.source->send({.pod = pod_,
                            .is_warning = true,
                            .reason = std::move(reason),
                            .message = std::move(message),
                            .request_id = job_.request.id});
}

// In the order of the list, whatever the order of the answers, and no more than are read. Files
// that are given as paths are the node's business, not the pod's.
void Resolver::tell_of_failures(const std::vector<model::RequestedNetwork>& networks,
                                const std::vector<Result<Found>>& found) const {
  std::size_t told = 0;
  for (std::size_t i = 0; i < found.size() && told < LiveReads::kMost; ++i) {
    if (found[i] || found[i].error().code() == Errc::kCancelled) continue;
    if (is_path(networks[i].configured)) continue;
    // A definition that is there and cannot be used is not a missing one.
    const Errc code = found[i].error().code();
    const bool is_unusable = code == Errc::kInvalid || code == Errc::kDenied;
    warn_pod(is_unusable ? model::kInvalidNetwork : model::kNoNetworkFound,
             found[i].error().text());
    ++told;
  }
}

model::PodObjectPtr Resolver::device_owner() const {
  if (!is_whole_ || pod_ != nullptr || !job_.pod.named()) return pod_;
  return job_.pod_as_named();
}

// A pod's author must not reach for the devices of others (02, 2.1); manifests in a folder are the
// administrator's own. A master's is not applied (02, 4.3).
bool Resolver::is_device_judged(const Found& one) const {
  const auto& selection = one.wanted.selection;
  if (!selection || selection->device_id.empty() || one.delegate.is_master) return false;
  return pod_ != nullptr && core_.ports.source->is_complete() &&
         !job_.conf.allow_annotation_devices;
}

// Devices are taken in the order of the list: one that was replaced takes none.
aio::Task<std::vector<model::Delegate>> Resolver::complete(std::vector<Found> found) {
  const model::PodObjectPtr owner = device_owner();
  ResourceMap devices(core_.ports.devices, owner, job_.pod.uid, job_.log);
  std::vector<model::Delegate> delegates;
  for (Found& one : found) {
    MNET_CO_TRY(auto&& delegate, co_await complete_one(std::move(one), &devices));
    delegates.push_back(std::move(delegate));
  }
  co_return delegates;
}

aio::Task<model::Delegate> Resolver::complete_one(Found one, ResourceMap* devices) {
  model::TakenDevice device;
  if (device_owner() != nullptr && !one.resource_name.empty()) {
    auto taken = co_await devices->take(one.resource_name, one.delegate.name);
    if (!taken) co_return explained(std::move(taken).error(), one.wanted);
    if (*taken) device = {.resource_name = one.resource_name, .id = **taken};
  }
  if (device.id.empty() && is_device_judged(one)) {
    auto claimed = co_await devices->claim(one.wanted.selection->device_id, one.delegate.name);
    if (!claimed) {
      warn_pod(model::kInterfaceAddRejected, claimed.error().text());
      co_return explained(std::move(claimed).error(), one.wanted);
    }
  }
  one.delegate.source = one.wanted.source;
  one.delegate.config_hash = hash_of(one.delegate);
  // Only what explains an error is left here.
  auto selection = std::exchange(one.wanted.selection, std::nullopt);
  if (selection) one.wanted.selection.emplace();
  auto delegate = model::fulfil(std::move(one.delegate), std::move(selection), device);
  if (!delegate) co_return explained(std::move(delegate).error(), one.wanted);
  co_return delegate;
}

aio::asio::awaitable<std::vector<model::Delegate>> Resolver::resolve_each() {
  is_whole_ = true;
  auto networks = co_await wanted_with_room();
  if (!networks) {
    job_.log.error("DEL continues with the configured networks", networks.error());
    networks = model::configured_networks(job_.conf, !is_system_namespace(job_));
  }
  std::vector<Result<Found>> found = co_await finder_.find_all(*networks);
  if (is_overridden(*networks)) {
    const auto replaced = found[1] ? 0 : 1;
    if (!found[1]) job_.log.error(kNotDeleted, explained(found[1].error(), (*networks)[1]));
    networks->erase(networks->begin() + replaced);
    found.erase(found.begin() + replaced);
  }
  ResourceMap devices(core_.ports.devices, device_owner(), job_.pod.uid, job_.log);
  std::vector<model::Delegate> delegates;
  for (std::size_t i = 0; i < found.size(); ++i) {
    Result<model::Delegate> delegate;
    if (found[i]) {
      found[i]->delegate.is_master = i == 0;
      delegate = co_await complete_one(*std::move(found[i]), &devices);
    } else {
      delegate = explained(std::move(found[i]).error(), (*networks)[i]);
    }
    if (!delegate) job_.log.error(kNotDeleted, delegate.error());
    model::Delegate& placed = delegates.emplace_back();
    placed.removed = !delegate;
    if (delegate) placed = *std::move(delegate);
    placed.is_master = i == 0;
  }
  auto chain = co_await auxiliary_chain();
  if (!chain) job_.log.error(kNotDeleted, chain.error());
  if (chain && *chain) delegates.push_back(**std::move(chain));
  co_return delegates;
}

aio::Task<model::Delegate> Resolver::select(model::NetworkSelectionElement element,
                                            std::set<std::string> used) {
  is_whole_ = is_told_ = true;
  std::vector<model::RequestedNetwork> networks;
  networks.push_back(selected(model::Source::kHotplug, std::move(element)));
  model::Weight weight = finder_.weigh(networks);
  MNET_CO_TRY_VOID(check_weight(weight));
  MNET_CO_TRY_VOID(co_await job_.take_room(core_.ports.room, weight.total()));
  std::vector<Result<Found>> found = co_await finder_.find_all(std::move(networks));
  if (!found.front()) co_return std::move(found.front()).error();
  ResourceMap devices(core_.ports.devices, device_owner(), job_.pod.uid, job_.log);
  devices.leave_out(std::move(used));
  co_return co_await complete_one(*std::move(found.front()), &devices);
}

aio::Task<model::Delegate> Resolver::master() {
  std::vector<model::RequestedNetwork> configured = model::configured_networks(job_.conf, false);
  if (configured.empty()) co_return nothing_configured();
  Resolver podless(core_, job_, nullptr, reads_end_);
  configured.resize(1);
  MNET_CO_TRY(auto&& delegates, co_await podless.only(std::move(configured)));
  delegates.front().is_master = true;
  co_return std::move(delegates.front());
}

aio::Task<std::vector<model::Delegate>> Resolver::configured() {
  if (!job_.conf.delegates.empty()) co_return job_.conf.delegates;
  MNET_CO_TRY(auto&& only_master, co_await master());
  std::vector<model::Delegate> delegates;
  delegates.push_back(std::move(only_master));
  co_return delegates;
}

aio::Task<std::vector<model::Delegate>> Resolver::default_networks() {
  std::vector<model::RequestedNetwork> configured = model::configured_networks(job_.conf, true);
  std::erase_if(configured, [](const model::RequestedNetwork& network) {
    return network.given || network.source != model::Source::kDefaultNetworks;
  });
  Resolver podless(core_, job_, nullptr, reads_end_);
  co_return co_await podless.only(std::move(configured));
}

aio::Task<std::vector<model::Delegate>> Resolver::only(
    std::vector<model::RequestedNetwork> networks) {
  MNET_CO_TRY(auto&& found, co_await find_all(std::move(networks)));
  co_return co_await complete(std::move(found));
}

aio::Task<std::optional<model::Delegate>> Resolver::auxiliary_chain() {
  const std::string& name = job_.conf.auxiliary_chain_name;
  if (name.empty()) co_return std::optional<model::Delegate>();
  if (!job_.conf.cluster_network.contains('/')) {
    co_return Error(Errc::kInvalid, "auxiliaryCNIChainName is set: ClusterNetwork must be a path");
  }
  auto plugins = co_await core_.ports.networks.auxiliary_plugins(job_.conf.cluster_network, name);
  auto list = plugins ? auxiliary_list(job_.conf, *plugins)
                      : Result<cni::ConfList>(std::move(plugins).error());
  if (!list) {
    // A broken chain must not keep pods from starting (02, 3.9).
    job_.log.error(cat("auxiliary chain ", go_quoted(name), " is skipped"), list.error());
    co_return std::optional<model::Delegate>();
  }
  if (list->plugins.size() < 2) co_return std::optional<model::Delegate>();
  model::Delegate chain = model::delegate_of(*std::move(list));
  if (auto checked = model::check_types(chain, job_.conf.type); !checked) {
    job_.log.error(cat("auxiliary chain ", go_quoted(name), " is skipped"), checked.error());
    co_return std::optional<model::Delegate>();
  }
  chain.source = model::Source::kAuxChain;
  chain.config_hash = hash_of(chain);
  co_return std::optional<model::Delegate>(std::move(chain));
}

}  // namespace mnet::attach
