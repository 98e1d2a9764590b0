// Where the objects of manifests live on the API server: finds their paths, asks patiently, and
// waits for what the server does in its own time (04, 1.10). Knows nothing of what is written.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "aio/task.h"
#include "base/backoff.h"
#include "cni_node/objects.h"
#include "kube/api.h"
#include "kube/discovery.h"
#include "kube/retries.h"
#include "nodetools/output.h"

namespace mnet::cni_node {

struct WriterSettings {
  using Time = std::chrono::milliseconds;
  std::string ns = "default";  // namespace of objects that do not name one
  std::string field_manager = "cni-node";
  Time wait_time{30'000};      // for deletions and new definitions; 0: not at all
  bool is_dry = false;         // nothing is changed; differences are shown
  bool tells_changes = false;  // one request more for each object, so that changes() is exact
  kube::Retries retries = kube::tool_retries();  // of one request
  Time poll{500}, longest_poll{4800};  // between two looks at what the server does in its own time
};

// An object and where it lives.
struct Target {
  ObjectName id;
  kube::Resource resource;
  std::string path = {};        // of the object
  std::string collection = {};  // of its namespace
  std::string label = {};       // `configmap/name`
};

class ObjectServer {
 public:
  // For something that the server does in its own time.
  struct Wait {
    std::string about;  // the file, in diagnostics
    std::string what;   // `configmap/name to be gone`
    std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
    bool is_told = false;
    std::optional<Backoff> pauses = {};  // between two looks
  };

  // API and output must outlive it.
  ObjectServer(kube::Api& api, WriterSettings settings, nodetools::Output& output);

  // None: its kind is not served. Kinds are remembered until forget().
  aio::Task<std::optional<Target>> resolve(ObjectName id);
  void forget() { discovery_.forget(); }
  // Repeats what may pass, as the settings say or as given.
  aio::Task<kube::Reply> call(kube::Call call);
  aio::Task<kube::Reply> call(kube::Call call, kube::Retries retries);
  // Sleeps until it is time to look again; says so once if it takes long. False: time is up.
  aio::Task<bool> may_look_again(Wait* wait);

  const WriterSettings& settings() const { return settings_; }
  const kube::Api& api() const { return api_; }

 private:
  kube::Api& api_;
  const WriterSettings settings_;
  nodetools::Output& output_;
  kube::Discovery discovery_;
};

}  // namespace mnet::cni_node
