// Which networks a container is to get, in order (02, 3.2): what the configuration says and what
// the pod's annotations say, checked as far as that goes without looking anything up. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/delegate.h"
#include "model/inject.h"
#include "model/netconf.h"
#include "model/networks_annotation.h"
#include "model/objects.h"

namespace mnet::model {

// A longer annotation takes milliseconds to read: not on the event loop.
inline constexpr std::size_t kLongAnnotation = 16u << 10;

inline constexpr std::string_view kNetworksAnnotation = "k8s.v1.cni.cncf.io/networks";
inline constexpr std::string_view kDefaultNetworkAnnotation = "v1.multus-cni.io/default-network";
inline constexpr std::string_view kSkipDefaultNetworksAnnotation =
    "v1.multus-cni.io/skip-default-networks";

// One network: exactly one of the last three says which.
struct RequestedNetwork {
  Source source = Source::kCluster;
  std::optional<Delegate> given = {};  // an element of `delegates`
  std::string configured = {};         // `clusterNetwork`, or one of `defaultNetworks`
  std::optional<NetworkSelectionElement> selection = {};  // an element of an annotation
};

// Whether isolation lets a pod of `pod_ns` select a definition of `ns`.
bool may_select(const NetConf& conf, std::string_view pod_ns, std::string_view ns);

// What the configuration gives a pod: the master, then the others.
std::vector<RequestedNetwork> configured_networks(const NetConf& conf, bool with_default_networks);

struct PodNetworks {
  bool skips_default_networks = false;
  std::optional<NetworkSelectionElement> default_network;  // in the master's place
  std::vector<NetworkSelectionElement> networks;
};

bool has_long_annotation(const PodObject& pod);
// Whether the pod has an annotation that can name networks, whatever is in it.
bool may_ask_for_networks(const PodObject& pod);
// Of the annotations that name networks.
Weight annotation_weight(const PodObject& pod);
// The networks that the pod's annotation names, as delegates are named after them. An error if the
// annotation cannot be read.
Result<std::set<std::string>> named_networks(const PodObject& pod);
// The pod's annotations. Namespace isolation and `defaultNetworkNamespaces` are part of it (02,
// 3.8); their errors have the code kDenied.
Result<PodNetworks> read_pod_networks(const NetConf& conf, const PodObject& pod);

}  // namespace mnet::model
