// Brings single objects of manifests to the API server and takes them away again, with retries,
// waits and the way around a missing right to patch (04, 1.10). Says what it did.
#pragma once

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aio/task.h"
#include "cni_node/objects.h"
#include "json/json.h"
#include "kube/api.h"
#include "kube/discovery.h"
#include "kube/patient_call.h"
#include "nodetools/output.h"

namespace mnet::cni_node {

struct WriterSettings {
  using Time = std::chrono::milliseconds;
  std::string ns = "default";  // of objects that name none
  std::string field_manager = "cni-node";
  Time wait_time{30'000};  // for deletions and new definitions; 0: not at all
  bool is_dry = false;     // nothing is changed; differences are shown
  kube::Tries tries = {};  // of one request
  Time poll{500};
};

class ObjectWriter {
 public:
  // All must outlive the tasks.
  ObjectWriter(kube::Api& api, WriterSettings settings, nodetools::Output& output);

  // Applies all in order. Kinds are looked up before the first write, as far as they are served;
  // one that is not, and that no definition of this run may bring, is an error. Ends at the first
  // failure. `about` names the file in diagnostics.
  aio::Task<void> apply(std::string about, std::vector<ManifestObject> objects);

  // Deletes all in reverse order, goes on after failures; the result has all of them. What is not
  // there is success.
  aio::Task<void> remove(std::string about, std::vector<ObjectName> objects);

  // With the namespace that it will have: the default one if it names none and needs one.
  aio::Task<std::vector<ObjectName>> full_names(std::vector<ManifestObject> objects);

  // Objects that were created, changed or deleted so far; unchanged ones are not counted.
  int changes() const { return changes_; }
  // After an outage: what is served may be different.
  void forget() { discovery_.forget(); }

 private:
  // An object and where it lives.
  struct Target {
    ObjectName id;
    kube::Resource resource;
    std::string path = {};        // of the object
    std::string collection = {};  // of its namespace
    std::string label = {};       // `configmap/name`
  };

  // For something that the server does in its own time.
  struct Wait {
    std::string about;  // the file, in diagnostics
    std::string what;   // `configmap/name to be gone`
    std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
    bool is_told = false;
  };

  aio::Task<std::optional<Target>> resolve(ObjectName id);
  aio::Task<Target> resolve_or_wait(std::string about, ObjectName id);
  aio::Task<void> check_kinds(std::string about, std::vector<ManifestObject> objects);
  aio::Task<void> apply_one(std::string about, ManifestObject object);
  aio::Task<kube::Reply> patch(std::string about, Target* target, std::string body);
  aio::Task<void> create(Target target, std::string body, Error refused);
  aio::Task<void> compare(Target target, std::string body, std::string live, Error refused);
  aio::Task<void> show_difference(Target target, std::string body);
  aio::Task<void> wait_established(std::string about, Target target);
  aio::Task<void> remove_one(std::string about, ObjectName id);
  aio::Task<void> wait_gone(std::string about, Target target, std::string uid);
  // Sleeps until it is time to look again; says so once if it takes long. False: time is up.
  aio::Task<bool> may_look_again(Wait* wait);
  // Repeats what may pass.
  aio::Task<kube::Reply> call(kube::Call call);
  Result<void> said(const Target& target, std::string_view what);
  std::string patch_query() const;

  kube::Api& api_;
  const WriterSettings settings_;
  nodetools::Output& output_;
  kube::Discovery discovery_;
  bool applied_definition_ = false;
  int changes_ = 0;
};

// The member, or the one behind a way of several; nullptr if there is none.
const json::Value* value_at(const json::Value& value, std::initializer_list<std::string_view> way);

// Whether every member of `ours` is in `live` with the same value: objects member by member, lists
// element by element.
bool is_contained(const json::Value& ours, const json::Value& live);

}  // namespace mnet::cni_node
