// Pods and network definitions as far as attaching networks needs them (03, 5.2 and 5.3): what is
// kept of an object, wherever it was read.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json.h"

namespace mnet::model {

using Annotations = std::map<std::string, std::string, std::less<>>;

// What the pod's networks gave it (02, 2.4).
inline constexpr std::string_view kNetworkStatusAnnotation = "k8s.v1.cni.cncf.io/network-status";
// Of a static pod's object: the UID under which the kubelet runs the pod.
inline constexpr std::string_view kConfigHashAnnotation = "kubernetes.io/config.hash";

enum class PodPhase : std::uint8_t {
  kUnknown,  // not said, as in a manifest
  kPending,
  kRunning,
  kEnded,
};

// A pod's object. Immutable once handed out. Phase, deletion and readiness are three facts: a pod
// that is being deleted may still run, and whether one is ready is nothing that networks depend on.
struct PodObject {
  std::string ns = {}, name = {};
  std::string uid = {};               // may be empty in a manifest
  std::string resource_version = {};  // may be empty
  Annotations annotations = {};
  // Whether the store has dropped the values of the annotations and kept only their keys.
  bool is_cut = false;
  // kubernetes.io/config.source is there and is not "api": the object is a mirror with a UID of its
  // own (02, 5.2).
  bool is_static = false;

  // Only of an object that the API has sent.
  PodPhase phase = PodPhase::kUnknown;
  bool is_being_deleted = false;
  bool is_in_host_network = false;
  bool has_network_status = false;
  std::string node_name = {};
  // `{"spec.resourceClaims":…}` and so on, as JSON, for the devices of dynamic resources (02, 8.4);
  // empty: none of them is there.
  std::string resource_claims = {};

  // In a network of its own, and not being deleted.
  bool is_running() const {
    return phase == PodPhase::kRunning && !is_being_deleted && !is_in_host_network;
  }
  // Unique among pods.
  std::string key() const { return ns + "/" + name; }
  // Empty and absent differ: nullptr if it is absent.
  const std::string* annotation(std::string_view key) const {
    const auto found = annotations.find(key);
    return found == annotations.end() ? nullptr : &found->second;
  }
  // Whether a request for this UID means this pod (02, 5.2). A request or a manifest without a UID
  // fits every other. A mirror fits the UID of its static pod, and every UID if it does not say
  // which that is.
  bool fits(std::string_view requested_uid) const {
    if (requested_uid.empty() || uid.empty() || uid == requested_uid) return true;
    if (!is_static) return false;
    const std::string* hash = annotation(kConfigHashAnnotation);
    return hash == nullptr || hash->empty() || *hash == requested_uid;
  }

  friend bool operator==(const PodObject&, const PodObject&) = default;
};
using PodObjectPtr = std::shared_ptr<const PodObject>;

// If all that they differ in is how far the pod has come, as nearly every change of a pod is, each
// takes that of the other; else false, and both stay as they are.
bool exchange_state(PodObject& a, PodObject& b);

// A NetworkAttachmentDefinition.
struct NetworkDefinition {
  std::string ns = {}, name = {};
  std::string resource_version = {};
  std::optional<std::string> config = {};  // spec.config word for word; absent is not ""
  std::string resource_name = {};          // of the annotation; empty: none (02, 2.3)

  std::string key() const { return ns + "/" + name; }
};
using NetworkDefinitionPtr = std::shared_ptr<const NetworkDefinition>;

enum class Origin : std::uint8_t {
  kApi,       // the API has checked the names; of a pod's annotations those that we use are kept
  kManifest,  // names are checked, the namespace defaults to "default", all annotations are kept
};

// An object that the API would refuse for its names or types is an error:
// `items[3].metadata.name: missing`. `path` is that of the object.
Result<PodObject> parse_pod_object(const json::Object& object, Origin origin,
                                   const std::string& path = {});
Result<NetworkDefinition> parse_network_definition(const json::Object& object, Origin origin,
                                                   const std::string& path = {});

}  // namespace mnet::model
