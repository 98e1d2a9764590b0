// Where attach meets the world: five narrow interfaces, fulfilled by adapters and, in tests, by the
// fakes of attach/fake_ports.h. All calls come from the event loop, many at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aio/task.h"
#include "attach/caller.h"
#include "attach/delegate.h"
#include "cni/args.h"
#include "cni/conf.h"
#include "json/json.h"

namespace mnet::attach {

// Where configurations of networks come from.
class Networks {
 public:
  virtual ~Networks() = default;
  // A configuration given as a path: directory, .conflist or other file (02, 3.3 d to f). Multus's
  // own types are refused.
  virtual aio::Task<Delegate> by_path(std::string path) = 0;
  // The plugins of the auxiliary chain `name` beside `path`, or in it if it is a directory (02,
  // 3.9), without the passthru that heads the chain.
  virtual aio::Task<std::vector<cni::PluginConf>> auxiliary_plugins(std::string path,
                                                                    std::string name) = 0;
};

// One run of one plugin executable.
struct PluginRun {
  std::string binary;             // from find()
  std::string command;            // ADD, DEL, ...
  std::vector<std::string> dirs;  // becomes CNI_PATH
  std::string container_id, netns, ifname;
  cni::ArgPairs args;
  std::string config;  // stdin
  std::string request_id;
  std::uint64_t ticket = 0;
  std::shared_ptr<Caller> caller;  // who may leave while this waits for its place; none: run it
};

class Plugins {
 public:
  virtual ~Plugins() = default;
  // The executable of `type` in the first of `dirs` that has it; the texts of 01, 7.1.
  virtual aio::Task<std::string> find(std::string type, std::vector<std::string> dirs) = 0;
  // Waits for a place (admission), runs the executable and yields its stdout (01, 7). kCancelled,
  // and nothing was run, if the caller left before its turn came.
  virtual aio::Task<std::string> run(PluginRun what) = 0;
};

// The pod's network namespace.
class Links {
 public:
  virtual ~Links() = default;
  // Those of `ifnames` that links in that namespace have, in this order. An error if the namespace
  // cannot be used: `no net namespace <path> found`.
  virtual aio::Task<std::vector<std::string>> taken(std::string netns,
                                                    std::vector<std::string> ifnames) = 0;
};

// Files of others that say whether the node is ready.
class Readiness {
 public:
  virtual ~Readiness() = default;
  // Whether a file of any kind is there; an error if that cannot be told.
  virtual aio::Task<bool> exists(std::string path) = 0;
};

// One entry of the result cache (01, 6).
struct CacheEntry {
  std::string container_id, network, ifname, netns, config;
  cni::ArgPairs cni_args;
  json::Object capability_args;
  std::optional<json::Value> result;
};

struct CacheKey {
  std::string network, container_id, ifname;
};

enum class Kept : std::uint8_t {
  kInPlace,  // readers see it; sync_results() makes it durable
  kDurable,  // on disk when the call ends
};

// What is remembered of a container between ADD and DEL, under the request's cniDir. Each call is
// atomic: a reader sees the old file or the new one. What ADD writes is in place when the call ends
// and durable then or when the sync ends (00-index, "Durable when").
class Records {
 public:
  virtual ~Records() = default;

  virtual aio::Task<void> write_scratch(std::string cni_dir, std::string container_id,
                                        json::Array delegates) = 0;
  virtual aio::Task<void> sync_scratch(std::string cni_dir, std::string container_id) = 0;
  // None if there is no file; kProtocol if it is damaged.
  virtual aio::Task<std::optional<json::Array>> find_scratch(std::string cni_dir,
                                                             std::string container_id) = 0;
  virtual aio::Task<void> remove_scratch(std::string cni_dir, std::string container_id) = 0;
  virtual aio::Task<std::vector<std::string>> list_scratch(std::string cni_dir) = 0;

  virtual aio::Task<void> write_result(std::string cni_dir, CacheEntry entry, Kept kept) = 0;
  virtual aio::Task<void> sync_results(std::string cni_dir, std::vector<CacheKey> keys) = 0;
  // The `result` of one entry, 01, 6.4; none if there is no entry.
  virtual aio::Task<std::optional<json::Value>> find_result(std::string cni_dir, CacheKey key) = 0;
  virtual aio::Task<void> remove_result(std::string cni_dir, CacheKey key) = 0;
  // In byte order of the file names; of all containers if `container_id` is empty (01, 6.5).
  virtual aio::Task<std::vector<CacheEntry>> list_results(std::string cni_dir,
                                                          std::string container_id) = 0;
  // Removes files of the result cache that nobody can read and whose name holds `-<id>-` for none
  // of `ids`; yields their names (02, 7.3).
  virtual aio::Task<std::vector<std::string>> sweep_results(std::string cni_dir,
                                                            std::vector<std::string> ids) = 0;
};

// They must outlive whoever uses them.
struct Ports {
  Networks& networks;
  Plugins& plugins;
  Links& links;
  Readiness& readiness;
  Records& records;
};

}  // namespace mnet::attach
