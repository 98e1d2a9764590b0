// The port through which a chain remembers the results of its networks (01, 6). Each call is
// atomic: a reader sees the old entry or the new one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "aio/task.h"
#include "base/durability.h"
#include "cni/cache.h"
#include "json/json.h"

namespace mnet::chain {

class Results {
 public:
  virtual ~Results() = default;
  virtual aio::Task<void> write_result(std::string cni_dir, cni::CacheEntry entry,
                                       Durability kept) = 0;
  // The `result` of one entry, 01, 6.4; none if there is no entry.
  virtual aio::Task<std::optional<cni::CachedResult>> find_result(std::string cni_dir,
                                                                  cni::CacheKey key) = 0;
  // Notes how far a DEL came (CachedResult::deleted_from), durably. No such entry is fine.
  virtual aio::Task<void> note_deleted(std::string cni_dir, cni::CacheKey key,
                                       std::size_t from) = 0;
  virtual aio::Task<void> remove_result(std::string cni_dir, cni::CacheKey key) = 0;  // in place
};

}  // namespace mnet::chain
