// attach's records in files, through store; all that may wait for a disk on a thread of the pool.
// An ADD's visit to its pod's namespace is made with them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/blocking_pool.h"
#include "attach/ports.h"
#include "chain/results.h"

namespace mnet::adapters {

class FileRecords : public attach::Records, public chain::Results, public attach::PendingDels {
 public:
  // As NetNsLinks.
  FileRecords(aio::BlockingPool& pool, std::string mount_namespace)
      : pool_(pool), mount_namespace_(std::move(mount_namespace)) {}

  aio::Task<attach::AddStarted> begin_add(attach::AddStart start) override;
  aio::Task<void> sync(std::string cni_dir, std::string container_id,
                       std::vector<cni::CacheKey> results) override;
  aio::Task<attach::AddEnded> end_add(attach::AddEnd end) override;
  aio::Task<void> complete_add(std::string cni_dir, std::string container_id,
                               std::function<json::Object()> record) override;
  aio::Task<attach::StoredRecords> load(std::string cni_dir, std::string container_id,
                                        attach::RecordParts parts, std::size_t most) override;
  aio::Task<attach::RecordsDone> save(std::string cni_dir, std::string container_id,
                                      attach::RecordsToSave what) override;
  aio::Task<void> settle_status(std::string cni_dir, std::string container_id) override;
  aio::Task<attach::RecordsDone> remove(std::string cni_dir, std::string container_id) override;
  aio::Task<void> edit_routes(std::string cni_dir, cni::CacheKey key,
                              model::RouteEdit edit) override;
  aio::Task<std::vector<std::string>> list(std::string cni_dir) override;
  aio::Task<std::vector<attach::StampedRecord>> list_stamped(std::string cni_dir) override;
  aio::Task<attach::CacheOverview> list_results(std::string cni_dir) override;
  aio::Task<std::optional<std::string>> find_config(std::string cni_dir,
                                                    cni::CacheKey key) override;
  aio::Task<std::vector<std::string>> sweep(std::string cni_dir,
                                            std::vector<std::string> ids) override;

  aio::Task<void> write_result(std::string cni_dir, cni::CacheEntry entry,
                               Durability kept) override;
  aio::Task<std::optional<cni::CachedResult>> find_result(std::string cni_dir,
                                                          cni::CacheKey key) override;
  aio::Task<void> note_deleted(std::string cni_dir, cni::CacheKey key, std::size_t from) override;
  aio::Task<void> remove_result(std::string cni_dir, cni::CacheKey key) override;

  aio::Task<bool> keep(std::string cni_dir, std::string container_id, std::string ifname,
                       std::string body) override;

 private:
  aio::BlockingPool& pool_;
  std::string mount_namespace_;
};

}  // namespace mnet::adapters
