#include <linux/limits.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/durability.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/reading.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/cache.h"
#include "cni/names.h"
#include "json/json.h"
#include "store/cache_entry.h"
#include "store/own_files.h"
#include "store/store.h"
#include "sys/file.h"

namespace mnet::store {
namespace {

// The text of a cache file; none if there is no file, or nothing that could be one.
Result<std::optional<std::string>> find_cache_file(const std::optional<std::string>& path) {
  if (!path) return std::nullopt;
  auto text = find_text(*path);
  if (!text && is_damage(text.error())) return std::nullopt;
  return text;
}

// Whether a file may be about a container: `middle`, its id between two hyphens, is in the name,
// with something before and after. Of all containers: an empty one.
bool may_be_of(std::string_view name, std::string_view middle) {
  if (middle.empty()) return true;
  const std::size_t at = name.find(middle);
  return at != std::string_view::npos && at > 0 && at + middle.size() < name.size();
}

bool is_attachment(const DecodedEntry& decoded, const std::string& container_id) {
  const cni::CacheEntry& entry = decoded.entry;
  return decoded.kind == kCacheKind && !entry.ifname.empty() && !entry.network.empty() &&
         (container_id.empty() || entry.container_id == container_id);
}

// The entry in a file that may be the container's; none if it is not one, or damaged.
Result<std::optional<cni::CacheEntry>> find_entry(const std::string& path,
                                                  const std::string& container_id) {
  MNET_TRY(auto&& text, find_cache_file(path));
  if (!text) return std::nullopt;
  const auto document = json::parse(*text);
  text.reset();
  if (!document) return std::nullopt;
  auto decoded = parse_entry(*document);
  if (!decoded || !is_attachment(*decoded, container_id)) return std::nullopt;
  return std::move(decoded->entry);
}

}  // namespace

ResultCache::ResultCache(const std::string& cni_dir) : directory_(cat(cni_dir, "/results")) {}

Result<std::optional<std::string>> ResultCache::path_of(const cni::CacheKey& key) const {
  if (key.network.empty() || key.container_id.empty() || key.ifname.empty()) {
    return Error(
        Errc::kInvalid,
        cat("cache file path requires network name (", go_quoted(key.network), "), container ID (",
            go_quoted(key.container_id), "), and interface name (", go_quoted(key.ifname), ")"));
  }
  if (!cni::is_identifier(key.network) || !cni::is_identifier(key.container_id) ||
      !cni::validate_ifname(key.ifname)) {
    return std::nullopt;
  }
  std::string name = cat(key.network, "-", key.container_id, "-", key.ifname);
  if (name.size() > NAME_MAX) return std::nullopt;
  return cat(directory_, "/", name);
}

Result<void> ResultCache::write(cni::CacheEntry entry, Durability durability) const {
  MNET_TRY(auto&& path, path_of({entry.network, entry.container_id, entry.ifname}));
  if (!path) {
    return Error(Errc::kInvalid,
                 cat("cannot make a file name from network name ", go_quoted(entry.network),
                     ", container ID ", go_quoted(entry.container_id), " and interface name ",
                     go_quoted(entry.ifname)));
  }
  return replace_below(directory_, *path, entry_text(std::move(entry)), durability);
}

Result<std::optional<cni::CachedResult>> ResultCache::find_result(const cni::CacheKey& key) const {
  MNET_TRY(auto&& path, path_of(key));
  MNET_TRY(auto&& text, find_cache_file(path));
  if (!text) return std::nullopt;
  MNET_TRY(auto&& result, result_in(*std::move(text)));
  return result;
}

Result<void> ResultCache::note_deleted(const cni::CacheKey& key, std::size_t from) const {
  auto noted = edit(
      key,
      [from](json::Object& cache_file) -> Result<void> {
        cache_file.set(std::string(kDeletedFrom), json::Number::of_text(cat(from)));
        return {};
      },
      Durability::kDurable);
  if (!noted && noted.error().code() == Errc::kNotFound) return {};
  return noted;
}

Result<std::optional<cni::CacheEntry>> ResultCache::find(const cni::CacheKey& key) const {
  MNET_TRY(auto&& path, path_of(key));
  MNET_TRY(const auto& text, find_cache_file(path));
  if (!text) return std::nullopt;
  const std::string name = go_quoted(key.network);
  const auto document = json::parse(*text);
  auto decoded = document ? parse_entry(*document) : Result<DecodedEntry>(document.error());
  if (!decoded) {
    return std::move(decoded).error().wrap(
        cat("failed to unmarshal cached network ", name, " config"));
  }
  if (decoded->kind != kCacheKind) {
    return Error(Errc::kProtocol,
                 cat("read cached network ", name, " config has wrong kind: ", decoded->kind));
  }
  return std::move(decoded->entry);
}

Result<void> ResultCache::remove(const cni::CacheKey& key) const {
  MNET_TRY(auto&& path, path_of(key));
  if (!path) return {};
  MNET_FAIL_BLOCKING("result-cache-before-remove");
  MNET_TRY([[maybe_unused]] const auto& removed, sys::remove_file(*path, Durability::kInPlace));
  MNET_FAIL_BLOCKING("result-cache-after-remove");
  return {};
}

Result<ResultCache::Listing> ResultCache::list(const std::string& container_id) const {
  Listing listing;
  auto unreadable = read_each(
      container_id, [&](cni::CacheEntry entry) { listing.entries.push_back(std::move(entry)); });
  if (!unreadable) return std::move(unreadable).error();
  listing.unreadable = *std::move(unreadable);
  return listing;
}

Result<ResultCache::Overview> ResultCache::list_all() const {
  Overview overview;
  std::unordered_map<std::string, std::size_t> places;
  auto& containers = overview.containers;
  auto unreadable = read_each({}, [&](cni::CacheEntry entry) {
    const auto [place, is_new] = places.try_emplace(entry.container_id, containers.size());
    if (is_new) {
      containers.push_back({.container_id = std::move(entry.container_id),
                            .netns = std::move(entry.netns),
                            .cni_args = std::move(entry.cni_args),
                            .attachments = {}});
    }
    containers[place->second].attachments.push_back(
        {.network = std::move(entry.network), .ifname = std::move(entry.ifname)});
  });
  if (!unreadable) return std::move(unreadable).error();
  overview.unreadable = *std::move(unreadable);
  return overview;
}

Result<ErrorList> ResultCache::read_each(const std::string& container_id,
                                         const std::function<void(cni::CacheEntry)>& found) const {
  const std::string middle = container_id.empty() ? "" : cat("-", container_id, "-");
  // There may be a hundred thousand files of other containers, and several DELs look at a time.
  std::vector<std::string> names;
  auto listed = sys::visit_directory(directory_, [&](std::string_view name, sys::EntryKind) {
    // No network name begins with '.': that is a file being written.
    if (!name.starts_with('.') && may_be_of(name, middle)) names.emplace_back(name);
  });
  if (!listed && listed.error().code() != Errc::kNotFound) return std::move(listed).error();
  std::ranges::sort(names);
  ErrorList unreadable;
  for (const std::string& name : names) {
    auto entry = find_entry(cat(directory_, "/", name), container_id);
    if (!entry && is_shortage(entry.error())) return std::move(entry).error();
    if (!entry) {
      unreadable.add(std::move(entry).error());
    } else if (*entry) {
      found(**std::move(entry));
    }
  }
  return unreadable;
}

Result<void> ResultCache::edit(const cni::CacheKey& key,
                               const std::function<Result<void>(json::Object&)>& change,
                               Durability durability) const {
  MNET_TRY(auto&& path, path_of(key));
  if (!path) return Error(Errc::kNotFound, cat("no cached result of ", go_quoted(key.network)));
  MNET_TRY(auto&& text, sys::read_file(*path));
  auto cache_file = json::parse_object(text);
  if (!cache_file) return std::move(cache_file).error().wrap(*path);
  MNET_TRY_VOID(change(*cache_file));
  return replace_below(directory_, *path, json::dump(*cache_file), durability);
}

Result<void> ResultCache::sync(const cni::CacheKey& key) const {
  MNET_TRY(auto&& path, path_of(key));
  if (!path) return {};
  return sys::sync_file(*path);
}

// No file has this name: only the directory is synced.
Result<void> ResultCache::sync_removals() const {
  return sys::sync_file(cat(directory_, "/", sys::kTemporaryPrefix));
}

}  // namespace mnet::store
