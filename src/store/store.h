// Remembers on disk what was attached to each container, in upstream's formats: scratch files
// (02, 6.1), the result cache (01, 6; 02, 4.8), pending DELs (03, 2.14). Blocking; callers on the
// event loop go through a pool.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cni/args.h"
#include "json/json.h"
#include "sys/file.h"

namespace mnet::store {

// One entry of the result cache: <cniDir>/results/<network>-<containerID>-<ifname>.
struct CachedResult {
  std::string container_id, network, ifname, netns;
  std::string config;  // the bytes of the list or conf that ADD ran
  cni::ArgPairs cni_args;
  json::Object capability_args;
  std::optional<json::Value> result;  // as the plugin answered it
};

class ResultCache {
 public:
  explicit ResultCache(std::string cni_dir);

  Result<void> write(const CachedResult& entry, sys::Durability durability) const;
  // The `result` document of one entry: none if there is no file or it cannot be read; a legacy
  // file is the result itself (01, 6.4). Names that are not safe in a path count as "no entry".
  Result<std::optional<json::Value>> find_result(const std::string& network,
                                                 const std::string& container_id,
                                                 const std::string& ifname) const;
  Result<std::optional<CachedResult>> find(const std::string& network,
                                           const std::string& container_id,
                                           const std::string& ifname) const;
  Result<void> remove(const std::string& network, const std::string& container_id,
                      const std::string& ifname) const;
  // 01, 6.5; empty `container_id`: all.
  Result<std::vector<CachedResult>> list(const std::string& container_id = {}) const;
  Result<void> sync(const std::string& network, const std::string& container_id,
                    const std::string& ifname) const;

 private:
  std::string cni_dir_;
};

// Default routes of one cached result (02, 5.4, "Result cache"), on the decoded file.
struct Families {
  bool v4 = false, v6 = false;
};
Result<void> delete_default_routes(json::Object& cache_file, Families families);
Result<void> add_default_routes(json::Object& cache_file, const std::vector<std::string>& gateways);

// Scratch files: <cniDir>/<containerID>, the delegate list of one container as one JSON array. What
// an element means is attach's business; here it is an object.
class ScratchFiles {
 public:
  explicit ScratchFiles(std::string cni_dir);

  Result<void> write(const std::string& container_id, const json::Array& delegates,
                     sys::Durability durability) const;
  // None if there is no file. A damaged one is an error (kProtocol).
  Result<std::optional<json::Array>> find(const std::string& container_id) const;
  Result<bool> remove(const std::string& container_id) const;
  Result<std::vector<std::string>> list() const;  // container ids
  Result<void> sync(const std::string& container_id) const;

 private:
  std::string cni_dir_;
};

// Pending DELs: <cniDir>/pending-del/<containerID>-<ifname>.json holds the body meant for /cni.
class PendingDels {
 public:
  explicit PendingDels(std::string cni_dir);

  struct Record {
    std::string file;  // name inside the directory
    std::string body;
  };
  Result<void> write(const std::string& container_id, const std::string& ifname,
                     std::string_view body) const;
  Result<std::vector<Record>> list() const;
  Result<std::optional<Record>> find(const std::string& container_id,
                                     const std::string& ifname) const;
  Result<bool> remove(const std::string& file) const;
  // Moves a record that nobody can read to pending-del/bad/.
  Result<void> set_aside(const std::string& file) const;

 private:
  std::string cni_dir_;
};

}  // namespace mnet::store
