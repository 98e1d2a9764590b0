// Pods and network definitions as far as attaching networks needs them (03, 5.2 and 5.3): all that
// is kept of an object of the API.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json.h"

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

struct Pod {
  Meta meta = {};
  std::string uid = {};
  std::map<std::string, std::string, std::less<>> annotations = {};  // only those we use
  std::string node_name = {};
  bool is_static = false;  // kubernetes.io/config.source is there and is not "api"
  // Its containers run, in a network of their own, and nobody has deleted it.
  bool is_running = false;
  bool has_network_status = false;  // whoever wrote it, whatever it says
  // `{"spec.resourceClaims":…}` and so on, as JSON, for the devices of dynamic resources (02, 8.4);
  // empty: none of them is there.
  std::string resource_claims = {};

  // Whether a request for this UID means this pod (02, 5.2).
  bool fits(std::string_view requested_uid) const {
    return requested_uid.empty() || requested_uid == uid || is_static;
  }
};
Result<Pod> parse_pod(const json::Object& object);

struct Network {
  Meta meta = {};
  std::optional<std::string> config = {};  // spec.config word for word; absent is not ""
  std::string resource_name = {};          // annotation k8s.v1.cni.cncf.io/resourceName
};
Result<Network> parse_network(const json::Object& object);

std::string pod_path(std::string_view ns, std::string_view name);
std::string network_path(std::string_view ns, std::string_view name);
inline constexpr std::string_view kPodsPath = "/api/v1/pods";
inline constexpr std::string_view kNetworksPath =
    "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions";

}  // namespace mnet::kube
