// What ADD, DEL, CHECK, STATUS and GC mean (02). Sees no HTTP, no Kubernetes, no files and no
// processes: all that lies behind the four ports below, which adapters fulfils.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/log.h"
#include "cni/args.h"
#include "cni/conf.h"
#include "cni/result.h"
#include "json/json.h"

namespace mnet::attach {

struct Pod {
  std::string ns, name, uid, infra_container_id;
  bool named() const { return !ns.empty() && !name.empty(); }
};

// Whether the one who asked still wants it: the client may leave, and a DEL ends an ADD of the same
// container.
class Caller {
 public:
  bool gone() const { return gone_; }
  void leave() { gone_ = true; }

 private:
  bool gone_ = false;
};

struct Request {
  std::string container_id;  // empty for STATUS and GC
  std::string netns;
  std::string ifname;
  std::string args;    // CNI_ARGS
  std::string path;    // CNI_PATH
  std::string config;  // the netconf, daemon configuration laid over
  Pod pod;
  std::string id;            // request id, for logs and for the delegates
  std::uint64_t ticket = 0;  // order of arrival: delegates of older requests run first
  std::shared_ptr<Caller> caller;
};

// One network of one container, as resolved.
struct Delegate {
  std::string name;  // of the delegate (02, 3.1): status, events, device info
  bool is_master = false;
  bool is_list = false;
  cni::ConfList list;  // a conf is a list of one (01, 4.5)
  std::string bytes;  // the complete configuration as run: byte for byte what goes into the records
};

// --- Ports
// -----------------------------------------------------------------------------------------------------------

// Where configurations of networks come from.
class Networks {
 public:
  virtual ~Networks() = default;
  // A configuration given as a path: directory, .conflist or other file (02, 3.3 d to f).
  virtual aio::Task<Delegate> by_path(std::string path) = 0;
};

// One run of one plugin executable.
struct PluginRun {
  std::string type;
  std::string command;            // ADD, DEL, ...
  std::vector<std::string> dirs;  // where to look for it: binDir, then the request's CNI_PATH
  std::string container_id, netns, ifname;
  cni::ArgPairs args;
  std::string config;  // stdin
  std::string request_id;
  std::uint64_t ticket = 0;
};
class Plugins {
 public:
  virtual ~Plugins() = default;
  // Waits for a place (admission), finds the executable and runs it; yields stdout. 01, 7.
  virtual aio::Task<std::string> run(PluginRun what) = 0;
};

// The pod's network namespace.
class Links {
 public:
  virtual ~Links() = default;
  // False if no link of that name is there; an error if the namespace cannot be used: `no net
  // namespace <path> found`.
  virtual aio::Task<bool> exists(std::string netns, std::string ifname) = 0;
};

// What is remembered of a container between ADD and DEL, under the request's cniDir. Written "in
// place" and made durable by sync() before the reply (00-index, "Durable when").
struct CacheEntry {
  std::string container_id, network, ifname, netns, config;
  cni::ArgPairs cni_args;
  json::Object capability_args;
  std::optional<json::Value> result;
};
class Records {
 public:
  virtual ~Records() = default;

  virtual aio::Task<void> write_scratch(std::string cni_dir, std::string container_id,
                                        json::Array delegates) = 0;
  // None if there is no file; kProtocol if it is damaged.
  virtual aio::Task<std::optional<json::Array>> find_scratch(std::string cni_dir,
                                                             std::string container_id) = 0;
  virtual aio::Task<void> remove_scratch(std::string cni_dir, std::string container_id) = 0;

  virtual aio::Task<void> write_result(std::string cni_dir, CacheEntry entry) = 0;
  virtual aio::Task<std::optional<json::Value>> find_result(std::string cni_dir,
                                                            std::string network,
                                                            std::string container_id,
                                                            std::string ifname) = 0;
  virtual aio::Task<void> remove_result(std::string cni_dir, std::string network,
                                        std::string container_id, std::string ifname) = 0;
  virtual aio::Task<std::vector<CacheEntry>> list_results(std::string cni_dir,
                                                          std::string container_id) = 0;

  // All that was written for the container is on disk when this ends.
  virtual aio::Task<void> sync(std::string cni_dir, std::string container_id) = 0;
};

// --- The core
// ----------------------------------------------------------------------------------------------------------

struct Ports {
  Networks& networks;
  Plugins& plugins;
  Links& links;
  Records& records;
};

class Attachments {
 public:
  // The ports must outlive it.
  Attachments(Ports ports, Log log);
  ~Attachments();

  // The master's result, in whatever version its plugin answered.
  aio::Task<cni::NetResult> add(Request request);
  // Fails only when the runtime shall try again, with code 11 (00-index, "DEL errors").
  aio::Task<void> del(Request request);
  aio::Task<void> check(Request request);
  aio::Task<void> status(Request request);
  aio::Task<void> gc(Request request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mnet::attach
