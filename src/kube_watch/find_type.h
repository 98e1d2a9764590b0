// From the name of a type as people write it (`cm`, `ConfigMap`, `deployments.apps`,
// `deployments.v1.apps`) to the resource that the server has (04, 2.1).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/result.h"
#include "kube/api.h"
#include "kube/discovery.h"

namespace mnet::kube_watch {

// One way to read a type's name.
struct TypeReading {
  std::string resource = {};
  std::optional<std::string> group = {};  // none: any, the core first
  std::string version = {};               // empty: the one that the server prefers

  friend bool operator==(const TypeReading&, const TypeReading&) = default;
};

// In the order in which they are to be tried: a second part that looks like a version may be one.
std::vector<TypeReading> read_type(std::string_view text);

// By plural, singular or short name, or kind, in any letter case; nullptr if there is none.
const kube::Resource* find_resource(const std::vector<kube::Resource>& resources,
                                    std::string_view name);

class TypeFinder {
 public:
  // The API must outlive it. Callers that need the type ask again, so few attempts are enough.
  explicit TypeFinder(kube::Api& api, const kube::Retries& retries = kube::tool_retries(2))
      : api_(api), discovery_(api, retries) {}

  // None if the server has no such type now. Asks again each time. A group that does not answer, as
  // those of other servers may, hides no type but its own.
  aio::Task<std::optional<kube::Resource>> find(std::string type);

 private:
  aio::Task<std::optional<kube::Resource>> find(TypeReading reading);
  aio::Task<std::optional<kube::Resource>> find_in(kube::GroupVersion where, std::string name);
  aio::Task<std::vector<kube::GroupVersion>> fetch_groups();

  kube::Api& api_;
  kube::Discovery discovery_;
};

// An `APIGroupList`: each group with the version that the server prefers, in its order.
Result<std::vector<kube::GroupVersion>> parse_groups(std::string_view text);

}  // namespace mnet::kube_watch
