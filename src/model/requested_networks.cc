#include "model/requested_networks.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "model/delegate.h"
#include "model/inject.h"
#include "model/netconf.h"
#include "model/networks_annotation.h"
#include "model/objects.h"
#include "model/selection_element.h"

namespace mnet::model {

bool may_select(const NetConf& conf, std::string_view pod_ns, std::string_view ns) {
  if (!conf.namespace_isolation || pod_ns == ns) return true;
  return std::ranges::find(conf.non_isolated_namespaces, ns) != conf.non_isolated_namespaces.end();
}

namespace {

Result<bool> read_skip(const std::string* text) {
  if (text == nullptr || *text == "false") return false;
  if (*text == "true") return true;
  return Error(Errc::kInvalid, cat("annotation ", kSkipDefaultNetworksAnnotation,
                                   " must be \"true\" or \"false\", got ", go_quoted(*text)));
}

Result<void> check_isolation(const NetConf& conf, const PodObject& pod,
                             const NetworkSelectionElement& element) {
  if (may_select(conf, pod.ns, element.ns)) return {};
  const std::string ns = excerpt(element.ns);
  return Error(Errc::kDenied,
               cat("namespace isolation enabled, annotation violates permission, pod is in "
                   "namespace ",
                   pod.ns, " but refers to target namespace ", ns, "; take a network of ", pod.ns,
                   ", or name ", ns, " in globalNamespaces"));
}

Result<std::vector<NetworkSelectionElement>> read_networks(const NetConf& conf,
                                                           const PodObject& pod) {
  const std::string* text = pod.annotation(kNetworksAnnotation);
  if (text == nullptr) return std::vector<NetworkSelectionElement>();
  MNET_TRY(auto&& elements, parse_networks_annotation(*text, pod.ns));
  for (const NetworkSelectionElement& element : elements) {
    MNET_TRY_VOID(check_isolation(conf, pod, element));
  }
  return elements;
}

Result<void> check_default_network_namespace(const NetConf& conf,
                                             const NetworkSelectionElement& element) {
  const auto& allowed = conf.default_network_namespaces;
  if (!allowed || std::ranges::find(*allowed, element.ns) != allowed->end()) return {};
  const std::string ns = go_quoted(element.ns);
  return Error(Errc::kDenied,
               cat("annotation ", kDefaultNetworkAnnotation, " refers to target namespace ", ns,
                   ", which is not among defaultNetworkNamespaces; remove the annotation, or name ",
                   ns, " there"));
}

Result<std::optional<NetworkSelectionElement>> read_default_network(const NetConf& conf,
                                                                    const PodObject& pod) {
  const std::string* text = pod.annotation(kDefaultNetworkAnnotation);
  if (text == nullptr) return std::optional<NetworkSelectionElement>();
  MNET_TRY(auto&& element, parse_default_network_annotation(*text, conf.multus_namespace));
  MNET_TRY_VOID(check_default_network_namespace(conf, element));
  // The cluster's own networks lie there, for every pod to choose from.
  if (element.ns != conf.multus_namespace) {
    MNET_TRY_VOID(check_isolation(conf, pod, element));
  }
  return std::optional<NetworkSelectionElement>(std::move(element));
}

}  // namespace

std::vector<RequestedNetwork> configured_networks(const NetConf& conf, bool with_default_networks) {
  std::vector<RequestedNetwork> wanted;
  for (const Delegate& delegate : conf.delegates) {
    const Source source = wanted.empty() ? Source::kCluster : Source::kDefaultNetworks;
    wanted.push_back({.source = source, .given = delegate});
  }
  if (conf.cluster_network.empty()) return wanted;
  wanted.push_back({.source = Source::kCluster, .configured = conf.cluster_network});
  if (!with_default_networks || !conf.default_networks) return wanted;
  for (const std::string& network : *conf.default_networks) {
    wanted.push_back({.source = Source::kDefaultNetworks, .configured = network});
  }
  return wanted;
}

bool may_ask_for_networks(const PodObject& pod) {
  return pod.annotation(kNetworksAnnotation) != nullptr ||
         pod.annotation(kDefaultNetworkAnnotation) != nullptr;
}

bool has_long_annotation(const PodObject& pod) {
  return std::ranges::any_of(std::array{kNetworksAnnotation, kDefaultNetworkAnnotation},
                             [&pod](std::string_view name) {
                               const std::string* text = pod.annotation(name);
                               return text != nullptr && text->size() > kLongAnnotation;
                             });
}

Weight annotation_weight(const PodObject& pod) {
  Weight weight;
  for (const std::string_view name : {kNetworksAnnotation, kDefaultNetworkAnnotation}) {
    if (const std::string* text = pod.annotation(name)) weight += weight_of(*text);
  }
  return weight;
}

Result<std::set<std::string>> named_networks(const PodObject& pod) {
  std::set<std::string> names;
  const std::string* text = pod.annotation(kNetworksAnnotation);
  if (text == nullptr) return names;
  MNET_TRY(auto&& elements, parse_networks_annotation(*text, pod.ns));
  for (const NetworkSelectionElement& element : elements) {
    names.insert(cat(element.ns, "/", element.name));
  }
  return names;
}

Result<PodNetworks> read_pod_networks(const NetConf& conf, const PodObject& pod) {
  PodNetworks selection;
  MNET_TRY(auto&& skips, read_skip(pod.annotation(kSkipDefaultNetworksAnnotation)));
  selection.skips_default_networks = skips;
  MNET_TRY(auto&& default_network, read_default_network(conf, pod));
  selection.default_network = std::move(default_network);
  MNET_TRY(auto&& networks, read_networks(conf, pod));
  selection.networks = std::move(networks);
  return selection;
}

}  // namespace mnet::model
