#include "model/objects.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/dns_name.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/fields.h"
#include "json/json.h"
#include "model/requested_networks.h"

namespace mnet::model {
namespace {

constexpr std::string_view kConfigSource = "kubernetes.io/config.source";
constexpr std::string_view kResourceName = "k8s.v1.cni.cncf.io/resourceName";
constexpr std::array kUsedAnnotations = {
    kNetworksAnnotation, kDefaultNetworkAnnotation, kSkipDefaultNetworksAnnotation,
    kConfigSource,       kConfigHashAnnotation,     kResourceName};

struct Metadata {
  std::string ns, name, uid, resource_version;
  Annotations annotations;
};

bool is_used(std::string_view key) {
  return std::ranges::find(kUsedAnnotations, key) != kUsedAnnotations.end();
}

Result<void> read_annotations(const json::Object& object, const std::string& path, Origin origin,
                              Annotations& out) {
  for (const auto& [key, value] : object) {
    if (origin == Origin::kApi && !is_used(key)) continue;
    const std::string* text = value.as_string();
    // To the API null is the empty text.
    if (text == nullptr && !value.is_null()) {
      return json::wrong_kind(cat(path, "[", go_quoted(key), "]"), "a string", value);
    }
    out[key] = text == nullptr ? "" : *text;
  }
  return {};
}

Result<void> read_members(const json::Object& object, const std::string& path, Origin origin,
                          Metadata& out) {
  json::Fields fields(object, path, json::Match::kExact);
  fields.read("namespace", out.ns);
  fields.read("name", out.name);
  fields.read("uid", out.uid);
  fields.read("resourceVersion", out.resource_version);
  fields.object("annotations", [&](const json::Object& members, const std::string& where) {
    return read_annotations(members, where, origin, out.annotations);
  });
  if (out.name.empty()) fields.fail("name", "missing");
  if (origin == Origin::kManifest) {
    if (out.ns.empty()) out.ns = "default";
    if (!is_dns_label(out.ns)) {
      fields.fail("namespace", cat(go_quoted(out.ns), " is not a DNS label"));
    }
    if (!is_dns_subdomain(out.name)) {
      fields.fail("name", cat(go_quoted(out.name), " is not a DNS subdomain"));
    }
  }
  return fields.done();
}

Result<Metadata> read_metadata(const json::Object& object, Origin origin, const std::string& path) {
  Metadata out;
  json::Fields fields(object, path, json::Match::kExact);
  if (fields.find("metadata") == nullptr) fields.fail("metadata", "missing");
  fields.object("metadata", [&](const json::Object& members, const std::string& where) {
    return read_members(members, where, origin, out);
  });
  MNET_TRY_VOID(fields.done());
  return out;
}

auto state_of(PodObject& pod) {
  return std::tie(pod.resource_version, pod.phase, pod.is_being_deleted, pod.has_network_status);
}

}  // namespace

bool exchange_state(PodObject& a, PodObject& b) {
  std::tuple<std::string, PodPhase, bool, bool> kept = state_of(b);
  state_of(b) = state_of(a);
  const bool is_all = a == b;
  state_of(is_all ? a : b) = std::move(kept);
  return is_all;
}

Result<PodObject> parse_pod_object(const json::Object& object, Origin origin,
                                   const std::string& path) {
  MNET_TRY(auto&& metadata, read_metadata(object, origin, path));
  PodObject pod{.ns = std::move(metadata.ns),
                .name = std::move(metadata.name),
                .uid = std::move(metadata.uid),
                .resource_version = std::move(metadata.resource_version),
                .annotations = std::move(metadata.annotations)};
  const std::string* source = pod.annotation(kConfigSource);
  pod.is_static = source != nullptr && *source != "api";
  return pod;
}

Result<NetworkDefinition> parse_network_definition(const json::Object& object, Origin origin,
                                                   const std::string& path) {
  MNET_TRY(auto&& metadata, read_metadata(object, origin, path));
  NetworkDefinition network{.ns = std::move(metadata.ns),
                            .name = std::move(metadata.name),
                            .resource_version = std::move(metadata.resource_version)};
  const auto resource = metadata.annotations.find(kResourceName);
  if (resource != metadata.annotations.end()) network.resource_name = resource->second;
  json::Fields fields(object, path, json::Match::kExact);
  fields.object("spec", [&network](const json::Object& spec, std::string where) {
    json::Fields members(spec, std::move(where), json::Match::kExact);
    members.read("config", network.config);
    return members.done();
  });
  MNET_TRY_VOID(fields.done());
  return network;
}

}  // namespace mnet::model
