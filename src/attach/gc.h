// One GC (02, 7.3): removes what the runtime no longer lists, of every network. Without such a list
// it removes nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "aio/task.h"
#include "attach/containers.h"
#include "attach/core.h"
#include "base/error.h"
#include "base/error_list.h"
#include "chain/chain.h"
#include "cni/cache.h"

namespace mnet::attach {

class Collecting {
 public:
  // Both must outlive it.
  Collecting(Core& core, const Job& job);

  aio::Task<void> run();

 private:
  aio::Task<std::vector<std::string>> stale_containers();
  aio::Task<void> delete_container(std::string container_id);
  aio::Task<void> sweep();
  aio::asio::awaitable<std::vector<model::Delegate>> configured();
  // Lets the plugins of these networks collect, each network once.
  aio::Task<void> collect(std::vector<model::Delegate> networks);
  aio::Task<void> collect_attached(std::vector<cni::CachedContainer> containers);
  aio::Task<void> collect_one(cni::CacheKey attachment, std::size_t weight);
  aio::Task<std::vector<model::AttachmentId>> attachments();
  aio::Task<void> list_cached();
  aio::Task<std::set<model::AttachmentId>> load_recorded(std::vector<std::string> ids);
  // This GC as a job of one container, with room of its own.
  Job job_of(std::string container_id) const;
  bool is_valid(const std::string& container_id) const { return valid_ids_.contains(container_id); }
  // Where other processes do requests: takes its lock, and looks whether it is still as it was;
  // nullptr: it is not.
  aio::Task<std::shared_ptr<void>> lock_stale(std::string container_id);
  // Another request came for it since this GC began.
  bool is_in_use(const std::string& container_id) const;
  // To be told at the end.
  void note(Error error);

  Core& core_;
  const Job& job_;
  Containers::Witness witness_;
  const std::string begun_;  // RFC 3339
  std::set<std::string> valid_ids_;
  std::set<std::string> stale_;    // with files, and the runtime does not know them
  std::set<std::string> deleted_;  // by this GC, or it tried
  // Containers that had files when the first plugin was called. Others were added since.
  std::optional<std::set<std::string>> known_;
  std::set<std::string> collected_;  // networks whose plugins ran, by name and configuration
  // What the attachment records of living containers list: an ADD that was cut off may have
  // reserved addresses already (05, 3.11).
  std::set<model::AttachmentId> recorded_;
  // What the result cache lists of them, read when Containers::quiet_since() said this.
  std::vector<model::AttachmentId> cached_;
  std::optional<std::size_t> cached_since_;
  ErrorList errors_;
  std::size_t noted_bytes_ = 0, untold_ = 0;
};

}  // namespace mnet::attach
