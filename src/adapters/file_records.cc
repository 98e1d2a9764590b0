#include "adapters/file_records.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/netns_links.h"
#include "aio/blocking_pool.h"
#include "aio/failpoint.h"
#include "aio/task.h"
#include "attach/ports.h"
#include "attach/room.h"
#include "base/address_family.h"
#include "base/durability.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/address.h"
#include "cni/cache.h"
#include "json/count.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/default_routes.h"
#include "model/inject.h"
#include "store/pending_dels.h"
#include "store/store.h"
#include "sys/file.h"

namespace mnet::adapters {
namespace {

Result<void> edit(json::Object& cache_file, const model::RouteEdit& edit) {
  store::Families families;
  for (const AddressFamily family : edit.remove) {
    (family == AddressFamily::kV4 ? families.v4 : families.v6) = true;
  }
  MNET_TRY_VOID(store::delete_default_routes(cache_file, families));
  if (edit.add.empty()) return {};
  std::vector<std::string> gateways;
  gateways.reserve(edit.add.size());
  for (const cni::IpAddress& gateway : edit.add) gateways.push_back(gateway.text());
  return store::add_default_routes(cache_file, gateways);
}

bool names_any(std::string_view name, const std::vector<std::string>& ids) {
  return std::ranges::any_of(
      ids, [&](const std::string& id) { return name.contains(cat("-", id, "-")); });
}

// `<network>-<containerID>-<ifname>`
bool is_entry_name(std::string_view name) { return std::ranges::count(name, '-') >= 2; }

// Only what may be the rest of an entry: empty, zeros, or a JSON object that is cut off. A whole
// object may be a result of an old libcni, and anything else is another program's; we judge
// neither.
bool is_damaged(const std::string& path) {
  auto text = sys::read_file(path);
  if (!text) return false;
  return text->empty() || text->front() == '\0' ||
         (text->front() == '{' && !json::parse_object(*text));
}

Result<std::vector<std::string>> sweep_results(const std::string& cni_dir,
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
    if (!is_entry_name(file.name) || names_any(file.name, ids) || !is_damaged(path)) continue;
    if (auto gone = sys::remove_file(path); !gone) return std::move(gone).error();
    removed.push_back(std::move(file.name));
  }
  return removed;
}

// A disk takes several syncs in little more than the time of one. The first error is returned.
Result<void> sync_all(aio::BlockingPool& pool,
                      std::vector<std::move_only_function<Result<void>()>> syncs) {
  std::vector<Result<void>> ended(syncs.size());
  std::vector<aio::BlockingPool::Part> parts;
  parts.reserve(syncs.size());
  for (std::size_t i = 0; i < syncs.size(); ++i) {
    parts.emplace_back([&sync = syncs[i], &end = ended[i]] { end = sync(); });
  }
  pool.side_by_side(std::move(parts));
  for (Result<void>& each : ended) {
    if (!each) return std::move(each);
  }
  return {};
}

Result<void> write_scratch(const std::string& cni_dir, const std::string& container_id,
                           const json::Array& delegates) {
  MNET_FAIL_BLOCKING("scratch-before-write");
  MNET_TRY_VOID(store::ScratchFiles(cni_dir).write(container_id, delegates, Durability::kInPlace));
  MNET_FAIL_BLOCKING("scratch-after-write");
  return {};
}

// The scratch file first: it is what every multus can read (05, 3.2).
void write_first(const attach::AddStart& start, attach::AddStarted& started) {
  started.scratch = write_scratch(start.cni_dir, start.container_id, start.delegates());
  if (!started.scratch) return;
  started.record =
      store::AttachmentRecords(start.cni_dir)
          .write(start.container_id, start.record(started.seen.netns), Durability::kInPlace);
}

Result<void> write_last_result(const std::string& cni_dir, cni::CacheEntry entry) {
  MNET_FAIL_BLOCKING("result-cache-before-write");
  MNET_TRY_VOID(store::ResultCache(cni_dir).write(std::move(entry), Durability::kInPlace));
  MNET_FAIL_BLOCKING("result-cache-after-write");
  return {};
}

// The record there says that the ADD still runs: a living pod would be taken for a half-made one.
// Without the record the other files tell everything (05, 3.2).
Result<void> write_last_record(const std::string& cni_dir, const std::string& container_id,
                               const std::function<json::Object()>& record) {
  const store::AttachmentRecords records(cni_dir);
  auto written = records.write(container_id, record(), Durability::kInPlace);
  if (!written) (void)records.remove(container_id, Durability::kDurable);
  return written;
}

// What an ADD writes at its end, in place, and which result is among it.
struct LastFiles {
  Result<void> result = {}, record = {};
  std::optional<cni::CacheKey> key = {};
};

LastFiles write_last(const attach::AddEnd& end) {
  LastFiles done;
  if (auto last = end.result()) {
    done.key = cni::CacheKey{last->network, last->container_id, last->ifname};
    done.result = write_last_result(end.cni_dir, *std::move(last));
  }
  if (done.result && end.record) {
    done.record = write_last_record(end.cni_dir, end.container_id, end.record);
  }
  return done;
}

std::vector<std::move_only_function<Result<void>()>> syncs_of(
    const std::string& cni_dir, const std::vector<cni::CacheKey>& results) {
  std::vector<std::move_only_function<Result<void>()>> syncs;
  for (const cni::CacheKey& key : results) {
    syncs.emplace_back([&] { return store::ResultCache(cni_dir).sync(key); });
  }
  return syncs;
}

// Everything is in place before the first sync, so that the file system has one change to make
// durable and not one for each file: a node's disk takes milliseconds for each.
attach::AddEnded write_and_sync_last(aio::BlockingPool& pool, const attach::AddEnd& end) {
  LastFiles written = write_last(end);
  attach::AddEnded ended{
      .result = std::move(written.result), .synced = {}, .record = std::move(written.record)};
  if (!ended.result) return ended;
  std::vector<cni::CacheKey> results = end.in_place;
  if (written.key) results.push_back(*std::move(written.key));
  auto syncs = syncs_of(end.cni_dir, results);
  if (ended.record) {
    syncs.emplace_back([&]() -> Result<void> {
      ended.record = store::AttachmentRecords(end.cni_dir).sync(end.container_id);
      return {};
    });
  }
  ended.synced = sync_all(pool, std::move(syncs));
  return ended;
}

Result<attach::CacheListing> listing_of(Result<store::ResultCache::Listing> found) {
  if (!found) return std::move(found).error();
  return attach::CacheListing{.entries = std::move(found->entries),
                              .unreadable = std::move(found->unreadable)};
}

// Both hold all configurations of the container: the attachment record as JSON, so that its values
// can be counted, the scratch file in base64.
std::size_t weight_of_files(const std::string& cni_dir, const std::string& container_id) {
  const json::Count record = store::AttachmentRecords(cni_dir).count(container_id);
  const model::Weight weight{.bytes = record.bytes, .values = record.values};
  return std::max(weight.total(), store::ScratchFiles(cni_dir).size(container_id));
}

attach::RecordsDone save_files(const std::string& cni_dir, const std::string& container_id,
                               const attach::RecordsToSave& what) {
  attach::RecordsDone done;
  if (what.record) {
    done.record =
        store::AttachmentRecords(cni_dir).write(container_id, *what.record, Durability::kDurable);
  }
  if (what.scratch) done.scratch = write_scratch(cni_dir, container_id, *what.scratch);
  if (what.scratch && done.scratch) done.scratch = store::ScratchFiles(cni_dir).sync(container_id);
  return done;
}

Result<void> settle_status_in(const std::string& cni_dir, const std::string& container_id) {
  const store::AttachmentRecords records(cni_dir);
  MNET_TRY(auto&& record, records.find(container_id));
  if (!record || !record->erase(model::kStatusOwed)) return {};
  return records.write(container_id, *record, Durability::kInPlace);
}

// As long as the scratch file exists, a repeated DEL finds all it needs. A record that a
// power cut brings back describes a container of an earlier boot, so nothing waits for its
// removal.
attach::RecordsDone remove_files(const std::string& cni_dir, const std::string& container_id) {
  attach::RecordsDone done;
  const auto record = store::AttachmentRecords(cni_dir).remove(container_id, Durability::kInPlace);
  if (!record) done.record = record.error();
  const auto scratch = store::ScratchFiles(cni_dir).remove(container_id);
  if (!scratch) done.scratch = scratch.error();
  return done;
}

// The results went before, in place; one wait for the disk is enough for all.
attach::RecordsDone remove_and_sync(aio::BlockingPool& pool, const std::string& cni_dir,
                                    const std::string& container_id) {
  attach::RecordsDone done = remove_files(cni_dir, container_id);
  if (!done.scratch) return done;
  std::vector<std::move_only_function<Result<void>()>> syncs;
  syncs.emplace_back([&] { return store::ScratchFiles(cni_dir).sync(container_id); });
  syncs.emplace_back([&] { return store::ResultCache(cni_dir).sync_removals(); });
  done.scratch = sync_all(pool, std::move(syncs));
  return done;
}

Result<std::vector<std::string>> list_containers(const std::string& cni_dir) {
  MNET_TRY(auto&& containers, store::ScratchFiles(cni_dir).list());
  MNET_TRY(auto&& recorded, store::AttachmentRecords(cni_dir).list());
  std::ranges::move(recorded, std::back_inserter(containers));
  std::ranges::sort(containers);
  const auto doubles = std::ranges::unique(containers);
  containers.erase(doubles.begin(), doubles.end());
  return std::move(containers);
}

}  // namespace

aio::Task<attach::AddStarted> FileRecords::begin_add(attach::AddStart start) {
  return pool_.run([mount_namespace = mount_namespace_,
                    start = std::move(start)]() -> Result<attach::AddStarted> {
    MNET_TRY(auto&& seen, find_taken_names(mount_namespace, start.netns, start.ifnames));
    attach::AddStarted started{.seen = std::move(seen), .scratch = {}, .record = {}};
    if (started.seen.taken.empty()) write_first(start, started);
    return started;
  });
}

aio::Task<void> FileRecords::sync(std::string cni_dir, std::string container_id,
                                  std::vector<cni::CacheKey> results) {
  return pool_.run([&pool = pool_, cni_dir = std::move(cni_dir),
                    container_id = std::move(container_id),
                    results = std::move(results)]() -> Result<void> {
    auto syncs = syncs_of(cni_dir, results);
    syncs.emplace_back([&] { return store::ScratchFiles(cni_dir).sync(container_id); });
    return sync_all(pool, std::move(syncs));
  });
}

aio::Task<attach::AddEnded> FileRecords::end_add(attach::AddEnd end) {
  MNET_CO_TRY(
      auto&& ended,
      co_await pool_.run([&pool = pool_, end = std::move(end)]() -> Result<attach::AddEnded> {
        return write_and_sync_last(pool, end);
      }));
  if (!ended.result || !ended.synced) co_return ended;
  MNET_FAILPOINT("sync-after-results");
  co_return ended;
}

aio::Task<void> FileRecords::complete_add(std::string cni_dir, std::string container_id,
                                          std::function<json::Object()> record) {
  return pool_.run(
      [cni_dir = std::move(cni_dir), container_id = std::move(container_id),
       record = std::move(record)] { return write_last_record(cni_dir, container_id, record); });
}

// A new container has no file, and one look is faster than the way to the pool and back.
aio::Task<attach::StoredRecords> FileRecords::load(std::string cni_dir, std::string container_id,
                                                   attach::RecordParts parts, std::size_t most) {
  using Parts = attach::RecordParts;
  const bool all = parts == Parts::kAll || (parts == Parts::kOfEarlierAdd &&
                                            store::ScratchFiles(cni_dir).has(container_id));
  if (!all && !store::AttachmentRecords(cni_dir).has(container_id)) {
    co_return attach::StoredRecords();
  }
  co_return co_await pool_.run([cni_dir = std::move(cni_dir),
                                container_id = std::move(container_id), all,
                                most]() -> Result<attach::StoredRecords> {
    attach::StoredRecords stored;
    const std::size_t weight =
        most == attach::kAnyWeight ? 0 : weight_of_files(cni_dir, container_id);
    if (weight > most) {
      stored.too_heavy = weight;
      return stored;
    }
    // What takes most while it is read comes first.
    if (all) stored.results = listing_of(store::ResultCache(cni_dir).list(container_id));
    stored.record = store::AttachmentRecords(cni_dir).find(container_id);
    if (all) stored.scratch = store::ScratchFiles(cni_dir).find(container_id);
    return stored;
  });
}

aio::Task<attach::RecordsDone> FileRecords::save(std::string cni_dir, std::string container_id,
                                                 attach::RecordsToSave what) {
  return pool_.run([cni_dir = std::move(cni_dir), container_id = std::move(container_id),
                    what = std::move(what)]() -> Result<attach::RecordsDone> {
    return save_files(cni_dir, container_id, what);
  });
}

aio::Task<void> FileRecords::settle_status(std::string cni_dir, std::string container_id) {
  return pool_.run([cni_dir = std::move(cni_dir), container_id = std::move(container_id)] {
    return settle_status_in(cni_dir, container_id);
  });
}

aio::Task<attach::RecordsDone> FileRecords::remove(std::string cni_dir, std::string container_id) {
  return pool_.run([&pool = pool_, cni_dir = std::move(cni_dir),
                    container_id = std::move(container_id)]() -> Result<attach::RecordsDone> {
    return remove_and_sync(pool, cni_dir, container_id);
  });
}

aio::Task<void> FileRecords::edit_routes(std::string cni_dir, cni::CacheKey key,
                                         model::RouteEdit change) {
  return pool_.run(
      [cni_dir = std::move(cni_dir), key = std::move(key), change = std::move(change)] {
        return store::ResultCache(cni_dir).edit(
            key, [&](json::Object& cache_file) { return edit(cache_file, change); },
            Durability::kInPlace);
      });
}

aio::Task<std::vector<std::string>> FileRecords::list(std::string cni_dir) {
  return pool_.run([cni_dir = std::move(cni_dir)] { return list_containers(cni_dir); });
}

aio::Task<std::vector<attach::StampedRecord>> FileRecords::list_stamped(std::string cni_dir) {
  return pool_.run([cni_dir = std::move(cni_dir)]() -> Result<std::vector<attach::StampedRecord>> {
    MNET_TRY(auto&& ids, list_containers(cni_dir));
    const store::AttachmentRecords records(cni_dir);
    std::vector<attach::StampedRecord> stamped;
    stamped.reserve(ids.size());
    for (std::string& id : ids) {
      std::string stamp = records.stamp(id).value_or("");
      stamped.push_back({.container_id = std::move(id), .stamp = std::move(stamp)});
    }
    return stamped;
  });
}

aio::Task<attach::CacheOverview> FileRecords::list_results(std::string cni_dir) {
  return pool_.run([cni_dir = std::move(cni_dir)]() -> Result<attach::CacheOverview> {
    MNET_TRY(auto&& found, store::ResultCache(cni_dir).list_all());
    return attach::CacheOverview{.containers = std::move(found.containers),
                                 .unreadable = std::move(found.unreadable)};
  });
}

aio::Task<std::optional<std::string>> FileRecords::find_config(std::string cni_dir,
                                                               cni::CacheKey key) {
  return pool_.run(
      [cni_dir = std::move(cni_dir), key = std::move(key)]() -> Result<std::optional<std::string>> {
        MNET_TRY(auto&& entry, store::ResultCache(cni_dir).find(key));
        if (!entry) return std::nullopt;
        return std::move(entry->config);
      });
}

aio::Task<std::vector<std::string>> FileRecords::sweep(std::string cni_dir,
                                                       std::vector<std::string> ids) {
  return pool_.run(
      [cni_dir = std::move(cni_dir), ids = std::move(ids)] { return sweep_results(cni_dir, ids); });
}

aio::Task<void> FileRecords::write_result(std::string cni_dir, cni::CacheEntry entry,
                                          Durability kept) {
  return pool_.run(
      [cni_dir = std::move(cni_dir), entry = std::move(entry), durability = kept]() mutable {
        return store::ResultCache(cni_dir).write(std::move(entry), durability);
      });
}

aio::Task<std::optional<cni::CachedResult>> FileRecords::find_result(std::string cni_dir,
                                                                     cni::CacheKey key) {
  return pool_.run([cni_dir = std::move(cni_dir), key = std::move(key)] {
    return store::ResultCache(cni_dir).find_result(key);
  });
}

aio::Task<void> FileRecords::note_deleted(std::string cni_dir, cni::CacheKey key,
                                          std::size_t from) {
  return pool_.run([cni_dir = std::move(cni_dir), key = std::move(key), from] {
    return store::ResultCache(cni_dir).note_deleted(key, from);
  });
}

aio::Task<void> FileRecords::remove_result(std::string cni_dir, cni::CacheKey key) {
  return pool_.run([cni_dir = std::move(cni_dir), key = std::move(key)] {
    return store::ResultCache(cni_dir).remove(key);
  });
}

aio::Task<bool> FileRecords::keep(std::string cni_dir, std::string container_id, std::string ifname,
                                  std::string body) {
  return pool_.run([cni_dir = std::move(cni_dir), container_id = std::move(container_id),
                    ifname = std::move(ifname), body = std::move(body)] {
    return store::PendingDels(cni_dir).keep(container_id, ifname, body);
  });
}

}  // namespace mnet::adapters
