// Objects of the API: their metadata, pods and network definitions.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json.h"
#include "model/objects.h"

namespace mnet::kube {

// What every object has; `key()` is unique within its kind.
struct Meta {
  std::string ns = {}, name = {};
  std::string resource_version = {};

  std::string key() const { return ns + "/" + name; }
};

// The members of `metadata` that we use; an error if there is no name.
Result<Meta> parse_meta(const json::Object& object);
// `metadata.resourceVersion`; empty if there is none.
std::string resource_version_of(const json::Object& object);
// `metadata.annotations[key]`; nullptr if there is none.
const std::string* annotation_of(const json::Object& object, std::string_view key);

// Of the annotations of a pod in a store, in bytes: the authors of pods choose their size.
inline constexpr std::size_t kMaxStoredAnnotations = 16u << 10;
// So many pods are kept at that length. Kubelets run fewer, but who may create pods may bind any
// number of them to a node that does not exist yet or admits no more.
inline constexpr std::size_t kLongStoredPods = 256;
// Of a pod above that number, and of one that has ended: thousands of them may stay in the cluster,
// and only a DEL without a record asks for their annotations.
inline constexpr std::size_t kMaxStoredBriefly = 1u << 10;

// Members of pods and definitions of which nothing is used. Authors of pods choose how many values
// are in them, and each would take a hundred bytes. Containers, which are of use to some, are last.
inline constexpr std::array<std::string_view, 24> kUnusedMembers = {"managedFields",
                                                                    "ownerReferences",
                                                                    "labels",
                                                                    "finalizers",
                                                                    "ephemeralContainers",
                                                                    "volumes",
                                                                    "affinity",
                                                                    "tolerations",
                                                                    "nodeSelector",
                                                                    "hostAliases",
                                                                    "imagePullSecrets",
                                                                    "topologySpreadConstraints",
                                                                    "readinessGates",
                                                                    "schedulingGates",
                                                                    "conditions",
                                                                    "containerStatuses",
                                                                    "initContainerStatuses",
                                                                    "ephemeralContainerStatuses",
                                                                    "securityContext",
                                                                    "dnsConfig",
                                                                    "overhead",
                                                                    "resources",
                                                                    "containers",
                                                                    "initContainers"};
inline constexpr std::span<const std::string_view> kUnusedBesideContainers =
    std::span(kUnusedMembers).first(kUnusedMembers.size() - 2);

Result<model::PodObject> parse_pod(const json::Object& object);
// For a store that has so many pods already: a pod with longer annotations is cut.
Result<model::PodObject> parse_stored_pod(const json::Object& object, std::size_t stored);
Result<model::NetworkDefinition> parse_network(const json::Object& object);

std::string pod_path(std::string_view ns, std::string_view name);
std::string network_path(std::string_view ns, std::string_view name);
inline constexpr std::string_view kPodsPath = "/api/v1/pods";
inline constexpr std::string_view kNetworksPath =
    "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions";

}  // namespace mnet::kube
