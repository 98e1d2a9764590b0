// The cluster, seen through its API server with the user's own rights. Errors name a right that is
// missing.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "aio/task.h"
#include "base/result.h"
#include "json/json.h"
#include "kube/api.h"
#include "kube/exec.h"
#include "multusctl/commands.h"
#include "multusctl/invocation.h"
#include "nodetools/output.h"

namespace mnet::multusctl {

// A kind of objects: what RBAC calls it, and where its collection is.
struct Resource {
  std::string_view group;  // empty: core
  std::string_view version, name;
};
inline constexpr Resource kPods{"", "v1", "pods"};
inline constexpr Resource kConfigMaps{"", "v1", "configmaps"};
inline constexpr Resource kNodes{"", "v1", "nodes"};
inline constexpr Resource kNamespaces{"", "v1", "namespaces"};
inline constexpr Resource kDefinitions{"k8s.cni.cncf.io", "v1", "network-attachment-definitions"};

struct ObjectName {
  std::string ns, name;
};

// What of a kind's objects is listed.
struct Listed {
  std::string query = {};  // `labelSelector=app%3Dmultus`
  // Members that are not read, at any depth: authors choose how large they are.
  std::span<const std::string_view> unused = {};
};

Error failed_command(const kube::ExecOutput& output);

class Cluster {
 public:
  // By kubeconfig, environment or service account; asks nothing yet.
  static Result<std::unique_ptr<Cluster>> open(const Invocation& invocation,
                                               const Surroundings& surroundings);

  // Where its tasks run: kept connections belong to it.
  aio::asio::io_context& loop() { return loop_; }

  // The namespace that commands mean: of -n or the context; empty with -A.
  const std::string& ns() const { return ns_; }

  // All objects, one at a time as they come, whatever the size of a page; `ns` empty: of all
  // namespaces. kNotFound if the cluster does not have that kind. An object with more values than
  // anyone reads is left out; stderr says so.
  aio::Task<void> each(Resource resource, std::string ns, Listed listed,
                       std::function<void(json::Object)> visit);
  // The same, together.
  aio::Task<json::Array> list(Resource resource, std::string ns, std::string query = {});
  // kNotFound if there is none.
  aio::Task<json::Object> get(Resource resource, std::string ns, std::string name);
  // The object that the server made of it.
  aio::Task<json::Object> create(Resource resource, json::Object object, std::string ns = {});
  // A merge patch; `subresource`: with its slash and query, `/status?dryRun=All`.
  aio::Task<json::Object> patch(Resource resource, ObjectName name, json::Object change,
                                std::string subresource = {});
  // One that is gone is fine. A pod without a grace period is gone from the API before its node has
  // taken it down.
  aio::Task<void> remove(Resource resource, ObjectName name, std::chrono::seconds grace);
  // What a container wrote, from its last `lines` on.
  aio::Task<std::string> log(std::string ns, std::string pod, std::string container, int lines);
  // What a command in a container prints; an exit code other than 0 is an error.
  aio::Task<std::string> run(kube::Exec what, aio::Deadline deadline);
  // The same, whatever its exit code.
  aio::Task<kube::ExecOutput> exec(kube::Exec what, aio::Deadline deadline);

 private:
  Cluster(std::unique_ptr<kube::Api> api, std::string ns, nodetools::Output& output)
      : api_(std::move(api)), ns_(std::move(ns)), output_(output) {}
  aio::Task<std::string> fetch(std::string verb, Resource resource, std::string ns,
                               kube::Call call);
  struct Page {
    std::string next = {};  // the token of the page after it; empty: this was the last one
    std::size_t left_out = 0;
  };
  aio::Task<Page> read_page(Resource resource, std::string ns, std::string path, Listed listed,
                            std::function<void(json::Object)> visit);

  aio::asio::io_context loop_{1};  // outlives the connections of the next
  std::unique_ptr<kube::Api> api_;
  std::string ns_;
  nodetools::Output& output_;
};

}  // namespace mnet::multusctl
