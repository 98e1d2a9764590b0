#include "kube/objects.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "model/objects.h"

namespace mnet::kube {
namespace {

// The second is what the original wrote in its early days.
constexpr std::array<std::string_view, 2> kStatusAnnotations = {
    "k8s.v1.cni.cncf.io/network-status", "k8s.v1.cni.cncf.io/networks-status"};

const json::Object* member(const json::Object& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value == nullptr ? nullptr : value->as_object();
}

void keep(json::Object& kept, const json::Object& object, std::string_view part,
          std::string_view key) {
  const json::Object* inside = member(object, part);
  const json::Value* value = inside == nullptr ? nullptr : inside->find(key);
  if (value != nullptr && !value->is_null()) kept.set(cat(part, ".", key), *value);
}

std::string claims_of(const json::Object& object) {
  json::Object kept;
  keep(kept, object, "spec", "resourceClaims");
  keep(kept, object, "status", "resourceClaimStatuses");
  keep(kept, object, "status", "extendedResourceClaimStatus");
  return kept.empty() ? "" : json::dump(kept);
}

std::string text_at(const json::Object& object, std::string_view part, std::string_view key) {
  const json::Object* inside = member(object, part);
  const json::Value* value = inside == nullptr ? nullptr : inside->find(key);
  const std::string* text = value == nullptr ? nullptr : value->as_string();
  return text == nullptr ? "" : *text;
}

bool is_in_network_of_host(const json::Object& pod) {
  const json::Object* spec = member(pod, "spec");
  const json::Value* value = spec == nullptr ? nullptr : spec->find("hostNetwork");
  const bool* in_host = value == nullptr ? nullptr : value->as_bool();
  return in_host != nullptr && *in_host;
}

bool is_running(const json::Object& pod) {
  return text_at(pod, "status", "phase") == "Running" &&
         text_at(pod, "metadata", "deletionTimestamp").empty() && !is_in_network_of_host(pod);
}

bool has_network_status(const json::Object& pod) {
  return std::ranges::any_of(kStatusAnnotations, [&pod](std::string_view key) {
    const std::string* text = annotation_of(pod, key);
    return text != nullptr && !text->empty();
  });
}

}  // namespace

std::string resource_version_of(const json::Object& object) {
  return text_at(object, "metadata", "resourceVersion");
}

const std::string* annotation_of(const json::Object& object, std::string_view key) {
  const json::Object* metadata = member(object, "metadata");
  const json::Object* annotations =
      metadata == nullptr ? nullptr : member(*metadata, "annotations");
  const json::Value* value = annotations == nullptr ? nullptr : annotations->find(key);
  return value == nullptr ? nullptr : value->as_string();
}

Result<Meta> parse_meta(const json::Object& object) {
  Meta meta{.ns = text_at(object, "metadata", "namespace"),
            .name = text_at(object, "metadata", "name"),
            .resource_version = resource_version_of(object)};
  if (meta.name.empty()) return Error(Errc::kInvalid, "metadata.name: missing");
  return meta;
}

Result<model::PodObject> parse_pod(const json::Object& object) {
  MNET_TRY(auto&& pod, model::parse_pod_object(object, model::Origin::kApi));
  pod.node_name = text_at(object, "spec", "nodeName");
  pod.is_running = is_running(object);
  pod.has_network_status = has_network_status(object);
  pod.resource_claims = claims_of(object);
  return std::move(pod);
}

Result<model::NetworkDefinition> parse_network(const json::Object& object) {
  return model::parse_network_definition(object, model::Origin::kApi);
}

std::string pod_path(std::string_view ns, std::string_view name) {
  return cat("/api/v1/namespaces/", ns, "/pods/", name);
}

std::string network_path(std::string_view ns, std::string_view name) {
  return cat("/apis/k8s.cni.cncf.io/v1/namespaces/", ns, "/network-attachment-definitions/", name);
}

}  // namespace mnet::kube
