#include "kube/objects.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/at.h"
#include "json/json.h"
#include "model/objects.h"

namespace mnet::kube {
namespace {

// The second is what the original wrote in its early days.
constexpr std::array<std::string_view, 2> kStatusAnnotations = {
    model::kNetworkStatusAnnotation, "k8s.v1.cni.cncf.io/networks-status"};

void keep(json::Object& kept, const json::Object& object, std::string_view part,
          std::string_view key) {
  const json::Value* value = json::find_at(object, {part, key});
  if (value != nullptr && !value->is_null()) kept.set(cat(part, ".", key), *value);
}

std::string claims_of(const json::Object& object) {
  json::Object kept;
  keep(kept, object, "spec", "resourceClaims");
  keep(kept, object, "status", "resourceClaimStatuses");
  keep(kept, object, "status", "extendedResourceClaimStatus");
  return kept.empty() ? "" : json::dump(kept);
}

bool is_in_network_of_host(const json::Object& pod) {
  return json::is_true(json::find_at(pod, {"spec", "hostNetwork"}));
}

model::PodPhase phase_of(const json::Object& pod) {
  const std::string phase = json::text_at(pod, {"status", "phase"});
  if (phase == "Pending") return model::PodPhase::kPending;
  if (phase == "Running") return model::PodPhase::kRunning;
  if (phase == "Succeeded" || phase == "Failed") return model::PodPhase::kEnded;
  return model::PodPhase::kUnknown;
}

bool has_network_status(const json::Object& pod) {
  return std::ranges::any_of(kStatusAnnotations, [&pod](std::string_view key) {
    const std::string* text = annotation_of(pod, key);
    return text != nullptr && !text->empty();
  });
}

}  // namespace

std::string resource_version_of(const json::Object& object) {
  return json::text_at(object, {"metadata", "resourceVersion"});
}

const std::string* annotation_of(const json::Object& object, std::string_view key) {
  return json::as_string(json::find_at(object, {"metadata", "annotations", key}));
}

Result<Meta> parse_meta(const json::Object& object) {
  Meta meta{.ns = json::text_at(object, {"metadata", "namespace"}),
            .name = json::text_at(object, {"metadata", "name"}),
            .resource_version = resource_version_of(object)};
  if (meta.name.empty()) return Error(Errc::kInvalid, "metadata.name: missing");
  return meta;
}

Result<model::PodObject> parse_pod(const json::Object& object) {
  MNET_TRY(auto&& pod, model::parse_pod_object(object, model::Origin::kApi));
  pod.node_name = json::text_at(object, {"spec", "nodeName"});
  pod.phase = phase_of(object);
  pod.is_being_deleted = !json::text_at(object, {"metadata", "deletionTimestamp"}).empty();
  pod.is_in_host_network = is_in_network_of_host(object);
  pod.has_network_status = has_network_status(object);
  pod.resource_claims = claims_of(object);
  return std::move(pod);
}

Result<model::PodObject> parse_stored_pod(const json::Object& object, std::size_t stored) {
  MNET_TRY(auto&& pod, parse_pod(object));
  std::size_t bytes = pod.resource_claims.size();
  for (const auto& [key, text] : pod.annotations) bytes += text.size();
  const bool is_brief = stored >= kLongStoredPods || pod.phase == model::PodPhase::kEnded;
  if (bytes <= (is_brief ? kMaxStoredBriefly : kMaxStoredAnnotations)) return std::move(pod);
  pod.is_cut = true;
  // Swapped: an assignment keeps the room of the longer text.
  std::string().swap(pod.resource_claims);
  for (auto& [key, text] : pod.annotations) std::string().swap(text);
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
