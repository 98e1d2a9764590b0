// What the API server serves: from apiVersion and kind to the paths of objects (04, 1.10,
// "Discovery").
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/result.h"
#include "kube/api.h"
#include "kube/retries.h"

namespace mnet::kube {

// One kind of objects.
struct Resource {
  std::string group = {}, version = {};  // the core group is empty
  std::string kind = {}, plural = {}, singular = {};
  std::vector<std::string> short_names = {};
  std::vector<std::string> verbs = {};
  bool is_namespaced = false;

  // `/api/v1/namespaces/n/configmaps`; with an empty namespace of all namespaces, or of a kind that
  // has none.
  std::string collection_path(std::string_view ns) const;
  std::string object_path(std::string_view ns, std::string_view name) const;
  // As messages name it: `configmap`, `clusterrole.rbac.authorization.k8s.io`.
  std::string label() const;
};

// `/api/v1`, `/apis/apps/v1`.
std::string path_of_version(std::string_view group, std::string_view version);
// `apps/v1` -> apps, v1; `v1` -> "", v1.
struct GroupVersion {
  std::string group, version;
};
GroupVersion parse_api_version(std::string_view api_version);

// An `APIResourceList`; subresources are left out.
Result<std::vector<Resource>> parse_resources(std::string_view text, const GroupVersion& of);

// Remembers each list that was asked for, until told to forget.
class Discovery {
 public:
  explicit Discovery(Api& api, const Retries& retries = tool_retries())
      : api_(api), retries_(retries) {}

  // All of one version; none if the server does not serve it.
  aio::Task<std::optional<std::vector<Resource>>> fetch(GroupVersion of);
  // None if the version or the kind is not served.
  aio::Task<std::optional<Resource>> find_kind(std::string api_version, std::string kind);
  void forget() { lists_.clear(); }

 private:
  Api& api_;
  const Retries retries_;
  std::map<std::string, std::vector<Resource>> lists_;  // by path
};

}  // namespace mnet::kube
