// Remembers on disk what was attached to each container: scratch files (02, 6.1) and the result
// cache (01, 6; 02, 4.8) in upstream's formats, pending DELs (03, 2.14), attachment records (05,
// 3.2). Blocking; callers on the event loop go through a pool.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error_list.h"
#include "base/result.h"
#include "cni/cache.h"
#include "json/count.h"
#include "json/json.h"
#include "sys/file.h"

namespace mnet::store {

// The files <cniDir>/results/<network>-<containerID>-<ifname>. Each call that names an entry needs
// its three names. An empty one is an error, `cache file path requires network name (""), …`; one
// that is not safe in a path names no entry: nothing is found, removed, synced or (then an error)
// written (01, 6.1).
class ResultCache {
 public:
  explicit ResultCache(const std::string& cni_dir);

  Result<void> write(cni::CacheEntry entry, Durability durability) const;
  // The `result` document of one entry, for cni::read_cached_result: none if there is no file;
  // empty if the entry has none; a legacy file is the result itself (01, 6.4). What is not JSON at
  // all is damage; a file that cannot be read is an error, too.
  Result<std::optional<cni::CachedResult>> find_result(const cni::CacheKey& key) const;
  // CachedResult::deleted_from, durable. No such entry is fine.
  Result<void> note_deleted(const cni::CacheKey& key, std::size_t from) const;
  // The whole entry, for its configuration and parameters: none if there is no file. A legacy file
  // is an error, it has neither.
  Result<std::optional<cni::CacheEntry>> find(const cni::CacheKey& key) const;
  // In place. No such entry is fine.
  Result<void> remove(const cni::CacheKey& key) const;
  struct Listing {
    std::vector<cni::CacheEntry> entries;
    // Of files that may be entries and cannot be read (EIO, say). Damaged ones are left out.
    ErrorList unreadable;
  };
  // 01, 6.5. An error where nothing can be said: a shortage, or a directory that cannot be read.
  Result<Listing> list(const std::string& container_id) const;
  struct Overview {
    std::vector<cni::CachedContainer> containers;
    ErrorList unreadable;  // as above
  };
  // The same for all containers.
  Result<Overview> list_all() const;
  // Rewrites an entry, including members that we do not know. No such entry is an error.
  Result<void> edit(const cni::CacheKey& key,
                    const std::function<Result<void>(json::Object& cache_file)>& change,
                    Durability durability) const;
  // Syncs what was written kInPlace.
  Result<void> sync(const cni::CacheKey& key) const;
  Result<void> sync_removals() const;

 private:
  // None if the names are not safe.
  Result<std::optional<std::string>> path_of(const cni::CacheKey& key) const;
  // Yields each entry in turn, and the errors of those that cannot be read. Empty `container_id`:
  // of all.
  Result<ErrorList> read_each(const std::string& container_id,
                              const std::function<void(cni::CacheEntry)>& found) const;

  std::string directory_;
};

// Default routes of one cached result (02, 5.4, "Result cache"), on the decoded file. After an
// error the file is as it was.
struct Families {
  bool v4 = false, v6 = false;
};
Result<void> delete_default_routes(json::Object& cache_file, Families families);
// After the routes that are there. In results of 0.1.0 and 0.2.0 a gateway without an address of
// its family has no place and is left out.
Result<void> add_default_routes(json::Object& cache_file, const std::vector<std::string>& gateways);

// Scratch files: <cniDir>/<containerID>, the delegate list of one container as one JSON array. What
// an element means is attach's business; here it is a value. A container id that is not safe in a
// path (02, 0.3) has no file and cannot be given one.
class ScratchFiles {
 public:
  explicit ScratchFiles(std::string cni_dir);

  Result<void> write(const std::string& container_id, const json::Array& delegates,
                     Durability durability) const;
  // Whether there may be a file: true even if that is unknown.
  bool has(const std::string& container_id) const;
  // None if there is no file. A damaged one is an error (kProtocol).
  Result<std::optional<json::Array>> find(const std::string& container_id) const;
  // Of its file; nothing if there is none, or if that is unknown.
  std::size_t size(const std::string& container_id) const;
  // In place. True if it was there.
  Result<bool> remove(const std::string& container_id) const;
  Result<std::vector<std::string>> list() const;  // container ids
  // Syncs what was written kInPlace, or removed.
  Result<void> sync(const std::string& container_id) const;

 private:
  // None if the container id is not safe.
  std::optional<std::string> path_of(const std::string& container_id) const;

  std::string cni_dir_;
};

// Attachment records: <cniDir>/_attachments/<containerID>.json, one JSON object each; what is in it
// is attach's business. Container ids as for scratch files.
class AttachmentRecords {
 public:
  explicit AttachmentRecords(const std::string& cni_dir);

  Result<void> write(const std::string& container_id, const json::Object& record,
                     Durability durability) const;
  // Whether there may be a file: true even if that is unknown.
  bool has(const std::string& container_id) const;
  // None if there is no file. A damaged one is an error (kProtocol).
  Result<std::optional<json::Object>> find(const std::string& container_id) const;
  // What the file would become; nothing if there is none, or if it cannot be read.
  json::Count count(const std::string& container_id) const;
  // True if it was there.
  Result<bool> remove(const std::string& container_id, Durability durability) const;
  Result<std::vector<std::string>> list() const;  // container ids
  // Another text after each change of the file. None if there is no file, or if it was written so
  // lately that the next change may not show.
  std::optional<std::string> stamp(const std::string& container_id) const;
  // By the time when each file was written.
  Result<std::vector<std::string>> list_oldest_first() const;
  // Syncs what was written kInPlace.
  Result<void> sync(const std::string& container_id) const;

 private:
  // None if the container id is not safe.
  std::optional<std::string> path_of(const std::string& container_id) const;

  std::string directory_;
};

// Where the status of pods goes whose folder of manifests is read-only: `<cniDir>/_status`.
// Container ids do not begin so.
std::string status_directory(const std::string& cni_dir);

// The lock that a process of thin multus holds while it works on the container. Container ids do
// not begin like its folder.
std::string thin_lock(const std::string& cni_dir, const std::string& container_id);

// How many files of each kind there are below `cni_dir`, without reading any of them. No
// directory: none.
struct Counts {
  std::size_t attachments = 0;       // one for each container
  std::size_t scratch = 0;           // likewise
  std::size_t results = 0;           // one for each network of a container
  std::size_t bad_pending_dels = 0;  // damaged, set aside until a person looks at them
};
Result<Counts> count_files(const std::string& cni_dir);

// Removes what killed writers left: temporary names older than `age_seconds` in `cni_dir` and in
// the directories of results, pending DELs and attachment records.
Result<void> sweep(const std::string& cni_dir, long age_seconds);

}  // namespace mnet::store
