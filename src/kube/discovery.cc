#include "kube/discovery.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/fields.h"
#include "json/json.h"
#include "kube/kube.h"

namespace mnet::kube {
namespace {

Result<Resource> parse_resource(const json::Object& object, const std::string& path,
                                const GroupVersion& of) {
  Resource out{.group = of.group, .version = of.version};
  json::Fields fields(object, path, json::Match::kExact);
  fields.read("name", out.plural);
  fields.read("singularName", out.singular);
  fields.read("kind", out.kind);
  fields.read("namespaced", out.is_namespaced);
  fields.read("shortNames", out.short_names);
  fields.read("verbs", out.verbs);
  MNET_TRY_VOID(fields.done());
  if (out.singular.empty()) out.singular = to_lower(out.kind);
  return out;
}

}  // namespace

std::string path_of_version(std::string_view group, std::string_view version) {
  return group.empty() ? cat("/api/", query_value(version))
                       : cat("/apis/", query_value(group), "/", query_value(version));
}

GroupVersion parse_api_version(std::string_view api_version) {
  const std::size_t at = api_version.find('/');
  if (at == std::string_view::npos) return {.group = "", .version = std::string(api_version)};
  return {.group = std::string(api_version.substr(0, at)),
          .version = std::string(api_version.substr(at + 1))};
}

std::string Resource::collection_path(std::string_view ns) const {
  const std::string prefix = path_of_version(group, version);
  if (!is_namespaced || ns.empty()) return cat(prefix, "/", plural);
  return cat(prefix, "/namespaces/", query_value(ns), "/", plural);
}

std::string Resource::object_path(std::string_view ns, std::string_view name) const {
  return cat(collection_path(ns), "/", query_value(name));
}

std::string Resource::label() const { return group.empty() ? singular : cat(singular, ".", group); }

Result<std::vector<Resource>> parse_resources(std::string_view text, const GroupVersion& of) {
  MNET_TRY(auto&& document, json::parse_object(text));
  std::vector<Resource> out;
  json::Fields fields(document, "", json::Match::kExact);
  fields.list("resources", [&](const json::Value& value, const std::string& path) -> Result<void> {
    const json::Object* object = value.as_object();
    if (object == nullptr) return json::wrong_kind(path, "an object", value);
    MNET_TRY(auto&& resource, parse_resource(*object, path, of));
    if (resource.plural.find('/') == std::string::npos) out.push_back(std::move(resource));
    return {};
  });
  MNET_TRY_VOID(fields.done());
  return out;
}

aio::Task<std::optional<std::vector<Resource>>> Discovery::fetch(GroupVersion of) {
  using Found = std::optional<std::vector<Resource>>;
  const std::string path = path_of_version(of.group, of.version);
  if (const auto known = lists_.find(path); known != lists_.end()) co_return Found(known->second);
  auto reply = co_await api_.call_patiently({.path = path}, retries_);
  if (!reply) co_return std::move(reply).error().wrap(path);
  if (reply->status == 404) co_return Found();
  if (!reply->ok()) co_return reply->error().wrap(path);
  auto resources = parse_resources(reply->body, of);
  if (!resources) co_return std::move(resources).error().wrap(path);
  lists_[path] = *resources;
  co_return Found(*std::move(resources));
}

aio::Task<std::optional<Resource>> Discovery::find_kind(std::string api_version, std::string kind) {
  MNET_CO_TRY(auto&& resources, co_await fetch(parse_api_version(api_version)));
  if (!resources) co_return std::optional<Resource>();
  for (Resource& resource : *resources) {
    if (resource.kind == kind) co_return std::optional<Resource>(std::move(resource));
  }
  co_return std::optional<Resource>();
}

}  // namespace mnet::kube
