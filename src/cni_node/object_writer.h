// Applies single objects of manifests to the API server and removes them again, with retries, waits
// and the way around a missing right to patch (04, 1.10). Says what it did.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/error.h"
#include "cni_node/object_remover.h"
#include "cni_node/object_server.h"
#include "cni_node/objects.h"
#include "json/json.h"
#include "kube/api.h"
#include "nodetools/output.h"

namespace mnet::cni_node {

class ObjectWriter {
 public:
  // All must outlive the tasks.
  ObjectWriter(kube::Api& api, WriterSettings settings, nodetools::Output& output);

  // Applies all in order. Kinds are looked up before the first write, as far as they are served;
  // one that is not, and that no definition of this run may bring, is an error. Ends at the first
  // failure. `about` names the file in diagnostics.
  aio::Task<void> apply(std::string about, std::vector<ManifestObject> objects);

  // As ObjectRemover has it.
  aio::Task<void> remove(std::string about, std::vector<ObjectName> objects) {
    return remover_.remove(std::move(about), std::move(objects));
  }

  // With the namespace that it will have: the default one if it names none and needs one.
  aio::Task<std::vector<ObjectName>> full_names(std::vector<ManifestObject> objects);

  // Objects that were created, changed or deleted so far; unchanged ones are not counted.
  int changes() const { return changes_ + remover_.changes(); }
  // After an outage: what is served may be different.
  void forget() { server_.forget(); }

 private:
  aio::Task<Target> resolve_or_wait(std::string about, ObjectName id);
  aio::Task<void> check_kinds(std::string about, std::vector<ManifestObject> objects);
  aio::Task<std::string> version_before(Target target);
  aio::Task<void> apply_one(std::string about, ManifestObject object);
  aio::Task<kube::Reply> patch(std::string about, Target* target, std::string body);
  aio::Task<void> create(Target target, std::string body, Error refused);
  aio::Task<void> compare(Target target, std::string body, std::string live, Error refused);
  aio::Task<void> show_difference(Target target, std::string body);
  aio::Task<void> wait_established(std::string about, Target target);
  Result<void> said(const Target& target, std::string_view what);
  std::string patch_query() const;

  ObjectServer server_;
  ObjectRemover remover_;
  nodetools::Output& output_;
  bool applied_definition_ = false;
  int changes_ = 0;
};

// Whether every member of `ours` is in `live` with the same value: objects member by member, lists
// element by element.
bool is_contained(const json::Value& ours, const json::Value& live);

}  // namespace mnet::cni_node
