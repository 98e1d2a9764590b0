#include "manifests/objects.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dns_name.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/fields.h"
#include "json/json.h"
#include "yaml/yaml.h"

namespace mnet::manifests {
namespace {

constexpr std::string_view kNetworkVersion = "k8s.cni.cncf.io/v1";
constexpr std::string_view kNetworkKind = "NetworkAttachmentDefinition";

struct Kind {
  std::string api_version, kind;

  bool is(std::string_view version, std::string_view name) const {
    return api_version == version && kind == name;
  }
};

std::string text_member(const json::Object& object, std::string_view key) {
  const json::Value* value = object.find(key);
  const std::string* text = value == nullptr ? nullptr : value->as_string();
  return text == nullptr ? std::string() : *text;
}

// Items of typed lists come without a kind of their own when the API has written them.
Kind kind_of(const json::Object& object, const Kind& inherited) {
  Kind kind{text_member(object, "apiVersion"), text_member(object, "kind")};
  if (kind.kind.empty() && kind.api_version.empty()) return inherited;
  return kind;
}

struct Metadata {
  std::string ns, name, uid, resource_version;
  Annotations annotations;
};

Result<Annotations> read_annotations(const json::Object& object, const std::string& path) {
  Annotations annotations;
  for (const auto& [key, value] : object) {
    const std::string* text = value.as_string();
    // To the API null is the empty text.
    if (text == nullptr && !value.is_null()) {
      return json::wrong_kind(cat(path, "[", go_quoted(key), "]"), "a string", value);
    }
    annotations[key] = text == nullptr ? "" : *text;
  }
  return annotations;
}

Result<Metadata> read_members(const json::Object& object, const std::string& path) {
  Metadata out;
  json::Fields fields(object, path, json::Match::kExact);
  fields.read("namespace", out.ns);
  fields.read("name", out.name);
  fields.read("uid", out.uid);
  fields.read("resourceVersion", out.resource_version);
  fields.object("annotations", [&out](const json::Object& members, const std::string& where) {
    auto annotations = read_annotations(members, where);
    if (!annotations) return Result<void>(std::move(annotations).error());
    out.annotations = *std::move(annotations);
    return Result<void>();
  });
  if (out.ns.empty()) out.ns = "default";
  if (!is_dns_label(out.ns)) fields.fail("namespace", cat(go_quoted(out.ns), " is no DNS label"));
  if (out.name.empty()) fields.fail("name", "missing");
  if (!is_dns_subdomain(out.name)) {
    fields.fail("name", cat(go_quoted(out.name), " is no DNS subdomain"));
  }
  MNET_TRY_VOID(fields.done());
  return out;
}

Result<Metadata> read_metadata(const json::Object& object, const std::string& path) {
  Metadata out;
  json::Fields fields(object, path, json::Match::kExact);
  if (fields.find("metadata") == nullptr) fields.fail("metadata", "missing");
  fields.object("metadata", [&out](const json::Object& members, const std::string& where) {
    auto metadata = read_members(members, where);
    if (!metadata) return Result<void>(std::move(metadata).error());
    out = *std::move(metadata);
    return Result<void>();
  });
  MNET_TRY_VOID(fields.done());
  return out;
}

std::string annotation(const Annotations& annotations, std::string_view key) {
  const auto found = annotations.find(key);
  return found == annotations.end() ? std::string() : found->second;
}

class Reader {
 public:
  Result<void> read(const json::Value& value, const std::string& path, const Kind& inherited) {
    const json::Object* object = value.as_object();
    if (object == nullptr && path.empty()) return {};  // some other document
    if (object == nullptr) return json::wrong_kind(path, "an object", value);

    const Kind kind = kind_of(*object, inherited);
    if (kind.is("v1", "List")) return read_items(*object, path, {});
    if (kind.is("v1", "PodList")) return read_items(*object, path, {"v1", "Pod"});
    if (kind.is(kNetworkVersion, cat(kNetworkKind, "List"))) {
      return read_items(*object, path, {std::string(kNetworkVersion), std::string(kNetworkKind)});
    }
    if (kind.is("v1", "Pod")) return read_pod(*object, path);
    if (kind.is(kNetworkVersion, kNetworkKind)) return read_network(*object, path);
    return check_forgotten_version(kind, path);
  }

  Objects objects;

 private:
  // Without a version these would be left out silently, and nobody means that.
  static Result<void> check_forgotten_version(const Kind& kind, const std::string& path) {
    if (!kind.api_version.empty()) return {};
    if (kind.kind != "Pod" && kind.kind != kNetworkKind) return {};
    return Error(Errc::kInvalid, cat(path, path.empty() ? "" : ".", "apiVersion: missing"));
  }

  Result<void> read_items(const json::Object& object, const std::string& path, const Kind& kind) {
    json::Fields fields(object, path, json::Match::kExact);
    fields.list("items", [this, &kind](const json::Value& item, const std::string& where) {
      return read(item, where, kind);
    });
    return fields.done();
  }

  Result<void> read_pod(const json::Object& object, const std::string& path) {
    MNET_TRY(auto&& metadata, read_metadata(object, path));
    Pod pod;
    pod.ns = std::move(metadata.ns);
    pod.name = std::move(metadata.name);
    pod.uid = std::move(metadata.uid);
    pod.resource_version = std::move(metadata.resource_version);
    pod.annotations = std::move(metadata.annotations);
    const auto source = pod.annotations.find("kubernetes.io/config.source");
    pod.is_static = source != pod.annotations.end() && source->second != "api";
    objects.pods.push_back(std::move(pod));
    return {};
  }

  Result<void> read_network(const json::Object& object, const std::string& path) {
    MNET_TRY(auto&& metadata, read_metadata(object, path));
    NetworkAttachmentDefinition network;
    json::Fields fields(object, path, json::Match::kExact);
    fields.object("spec", [&network](const json::Object& spec, std::string where) {
      json::Fields members(spec, std::move(where), json::Match::kExact);
      members.read("config", network.config);
      return members.done();
    });
    MNET_TRY_VOID(fields.done());
    network.ns = std::move(metadata.ns);
    network.name = std::move(metadata.name);
    network.resource_version = std::move(metadata.resource_version);
    network.resource_name = annotation(metadata.annotations, "k8s.v1.cni.cncf.io/resourceName");
    objects.networks.push_back(std::move(network));
    return {};
  }
};

Result<std::vector<yaml::Document>> parse_text(std::string_view text) {
  constexpr yaml::Limits kLimits;
  // JSON is YAML but for some escapes (surrogate pairs), and a reader of JSON is many times faster.
  if (trim(text).starts_with('{')) {
    auto value = json::parse(text, kLimits.depth);
    if (value) return std::vector<yaml::Document>{{*std::move(value), 1}};
  }
  return yaml::parse_documents(text, kLimits);
}

}  // namespace

bool Pod::fits(std::string_view requested_uid) const {
  return requested_uid.empty() || uid.empty() || uid == requested_uid || is_static;
}

Result<Objects> parse_objects(std::string_view text) {
  MNET_TRY(auto&& documents, parse_text(text));
  Reader reader;
  for (const yaml::Document& document : documents) {
    auto read = reader.read(document.value, "", {});
    if (!read) return std::move(read).error().wrap(cat("line ", document.line));
  }
  return std::move(reader.objects);
}

}  // namespace mnet::manifests
