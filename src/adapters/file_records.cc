#include "adapters/file_records.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "aio/together.h"
#include "base/text.h"
#include "json/json.h"
#include "store/store.h"
#include "sys/file.h"

namespace mnet::adapters {
namespace {

store::CachedResult stored(attach::CacheEntry entry) {
  return {.container_id = std::move(entry.container_id),
          .network = std::move(entry.network),
          .ifname = std::move(entry.ifname),
          .netns = std::move(entry.netns),
          .config = std::move(entry.config),
          .cni_args = std::move(entry.cni_args),
          .capability_args = std::move(entry.capability_args),
          .result = std::move(entry.result)};
}

attach::CacheEntry listed(store::CachedResult entry) {
  return {.container_id = std::move(entry.container_id),
          .network = std::move(entry.network),
          .ifname = std::move(entry.ifname),
          .netns = std::move(entry.netns),
          .config = std::move(entry.config),
          .cni_args = std::move(entry.cni_args),
          .capability_args = std::move(entry.capability_args),
          .result = std::move(entry.result)};
}

bool names_any(std::string_view name, const std::vector<std::string>& ids) {
  return std::ranges::any_of(
      ids, [&](const std::string& id) { return name.contains(cat("-", id, "-")); });
}

// Only what is no JSON object at all: a result of an old libcni is one, and not ours to judge.
bool is_unreadable(const std::string& path) {
  auto text = sys::read_file(path);
  return text && !json::parse_object(*text);
}

Result<std::vector<std::string>> sweep(const std::string& cni_dir,
                                       const std::vector<std::string>& ids) {
  std::vector<std::string> removed;
  const std::string directory = cat(cni_dir, "/results");
  auto files = sys::list_directory(directory);
  if (!files) {
    if (files.error().code() == Errc::kNotFound) return removed;
    return std::move(files).error();
  }
  for (sys::Entry& file : *files) {
    if (file.kind != sys::EntryKind::kRegular || file.name.starts_with('.')) continue;
    const std::string path = cat(directory, "/", file.name);
    if (names_any(file.name, ids) || !is_unreadable(path)) continue;
    if (auto gone = sys::remove_file(path); !gone) return std::move(gone).error();
    removed.push_back(std::move(file.name));
  }
  return removed;
}

}  // namespace

aio::Task<void> FileRecords::write_scratch(std::string cni_dir, std::string container_id,
                                           json::Array delegates) {
  return pool_.run([cni_dir = std::move(cni_dir), container_id = std::move(container_id),
                    delegates = std::move(delegates)] {
    return store::ScratchFiles(cni_dir).write(container_id, delegates, sys::Durability::kInPlace);
  });
}

aio::Task<void> FileRecords::sync_scratch(std::string cni_dir, std::string container_id) {
  return pool_.run([cni_dir = std::move(cni_dir), container_id = std::move(container_id)] {
    return store::ScratchFiles(cni_dir).sync(container_id);
  });
}

aio::Task<std::optional<json::Array>> FileRecords::find_scratch(std::string cni_dir,
                                                                std::string container_id) {
  // A new container has none, and one look is quicker than the way to the pool and back.
  if (!store::ScratchFiles(cni_dir).has(container_id)) co_return std::optional<json::Array>();
  auto found =
      co_await pool_.run([cni_dir = std::move(cni_dir), container_id = std::move(container_id)] {
        return store::ScratchFiles(cni_dir).find(container_id);
      });
  co_return found;
}

aio::Task<void> FileRecords::remove_scratch(std::string cni_dir, std::string container_id) {
  auto removed =
      co_await pool_.run([cni_dir = std::move(cni_dir), container_id = std::move(container_id)] {
        return store::ScratchFiles(cni_dir).remove(container_id);
      });
  if (!removed) co_return std::move(removed).error();
  co_return Result<void>();
}

aio::Task<std::vector<std::string>> FileRecords::list_scratch(std::string cni_dir) {
  return pool_.run([cni_dir = std::move(cni_dir)] { return store::ScratchFiles(cni_dir).list(); });
}

aio::Task<void> FileRecords::write_result(std::string cni_dir, attach::CacheEntry entry,
                                          attach::Kept kept) {
  const auto durability =
      kept == attach::Kept::kDurable ? sys::Durability::kSynced : sys::Durability::kInPlace;
  return pool_.run([cni_dir = std::move(cni_dir), entry = stored(std::move(entry)), durability] {
    return store::ResultCache(cni_dir).write(entry, durability);
  });
}

// Side by side: a disk takes several syncs in little more than the time of one.
aio::Task<void> FileRecords::sync_results(std::string cni_dir, std::vector<attach::CacheKey> keys) {
  std::vector<aio::Task<void>> syncs;
  for (attach::CacheKey& key : keys) {
    syncs.push_back(pool_.run([cni_dir, key = std::move(key)] {
      return store::ResultCache(cni_dir).sync(key.network, key.container_id, key.ifname);
    }));
  }
  auto ended = co_await aio::all(std::move(syncs));
  for (Result<void>& synced : ended) {
    if (!synced) co_return std::move(synced);
  }
  co_return Result<void>();
}

aio::Task<std::optional<json::Value>> FileRecords::find_result(std::string cni_dir,
                                                               attach::CacheKey key) {
  return pool_.run([cni_dir = std::move(cni_dir), key = std::move(key)] {
    return store::ResultCache(cni_dir).find_result(key.network, key.container_id, key.ifname);
  });
}

aio::Task<void> FileRecords::remove_result(std::string cni_dir, attach::CacheKey key) {
  return pool_.run([cni_dir = std::move(cni_dir), key = std::move(key)] {
    return store::ResultCache(cni_dir).remove(key.network, key.container_id, key.ifname);
  });
}

aio::Task<std::vector<attach::CacheEntry>> FileRecords::list_results(std::string cni_dir,
                                                                     std::string container_id) {
  auto found =
      co_await pool_.run([cni_dir = std::move(cni_dir), container_id = std::move(container_id)] {
        return store::ResultCache(cni_dir).list(container_id);
      });
  if (!found) co_return std::move(found).error();
  std::vector<attach::CacheEntry> entries;
  for (store::CachedResult& entry : *found) entries.push_back(listed(std::move(entry)));
  co_return entries;
}

aio::Task<std::vector<std::string>> FileRecords::sweep_results(std::string cni_dir,
                                                               std::vector<std::string> ids) {
  return pool_.run(
      [cni_dir = std::move(cni_dir), ids = std::move(ids)] { return sweep(cni_dir, ids); });
}

aio::Task<void> FileRecords::edit_routes(std::string, attach::CacheKey, attach::RouteEdit) {
  co_return Error(Errc::kUnavailable, "not built yet");
}

aio::Task<std::optional<json::Object>> FileRecords::find_record(std::string, std::string) {
  co_return std::optional<json::Object>();
}

aio::Task<void> FileRecords::write_record(std::string, std::string, json::Object, attach::Kept) {
  co_return Result<void>();
}

aio::Task<void> FileRecords::remove_record(std::string, std::string) { co_return Result<void>(); }

aio::Task<std::vector<std::string>> FileRecords::list_records(std::string) {
  co_return std::vector<std::string>();
}

aio::Task<void> FileRecords::begin_add(std::string cni_dir, std::string container_id,
                                       json::Array delegates, json::Object) {
  return write_scratch(std::move(cni_dir), std::move(container_id), std::move(delegates));
}

aio::Task<void> FileRecords::end_add(std::string cni_dir, std::string, json::Object,
                                     std::vector<attach::CacheKey> keys) {
  return sync_results(std::move(cni_dir), std::move(keys));
}

}  // namespace mnet::adapters
