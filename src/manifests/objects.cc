#include "manifests/objects.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/at.h"
#include "json/fields.h"
#include "json/json.h"
#include "model/objects.h"
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

// Items of typed lists come without a kind of their own when the API has written them.
Kind kind_of(const json::Object& object, const Kind& inherited) {
  Kind kind{json::text_at(object, {"apiVersion"}), json::text_at(object, {"kind"})};
  if (kind.kind.empty() && kind.api_version.empty()) return inherited;
  return kind;
}

class Reader {
 public:
  explicit Reader(std::string ns) : ns_(std::move(ns)) {}

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
  // Without a version these would be left out silently, which is never meant.
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
    MNET_TRY(auto&& pod, model::parse_pod_object(object, model::Origin::kManifest, path));
    if (!names_namespace(object)) pod.ns = ns_;
    objects.pods.push_back(std::move(pod));
    return {};
  }

  Result<void> read_network(const json::Object& object, const std::string& path) {
    MNET_TRY(auto&& network,
             model::parse_network_definition(object, model::Origin::kManifest, path));
    if (!names_namespace(object)) network.ns = ns_;
    objects.networks.push_back(std::move(network));
    return {};
  }

  static bool names_namespace(const json::Object& object) {
    return !json::text_at(object, {"metadata", "namespace"}).empty();
  }

  const std::string ns_;
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

Result<Objects> parse_objects(std::string_view text, std::string ns) {
  MNET_TRY(auto&& documents, parse_text(text));
  Reader reader(std::move(ns));
  for (const yaml::Document& document : documents) {
    auto read = reader.read(document.value, "", {});
    if (!read) return std::move(read).error().wrap(cat("line ", document.line));
  }
  return std::move(reader.objects);
}

}  // namespace mnet::manifests
