#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/failpoint.h"
#include "base/result.h"
#include "base/text.h"
#include "cni/names.h"
#include "json/json.h"
#include "store/cache_entry.h"
#include "store/replace.h"
#include "store/store.h"
#include "sys/file.h"

namespace mnet::store {
namespace {

// The text of a cache file; none if it is missing or cannot be read.
std::optional<std::string> find_text(const std::optional<std::string>& path) {
  if (!path) return std::nullopt;
  auto text = sys::read_file(*path);
  if (!text) return std::nullopt;
  return *std::move(text);
}

// Whether a file may be about the container: `-<id>-` in its name, with something before and
// behind.
bool may_be_of(std::string_view name, const std::string& container_id) {
  if (container_id.empty()) return true;
  const std::string middle = cat("-", container_id, "-");
  const std::size_t at = name.find(middle);
  return at != std::string_view::npos && at > 0 && at + middle.size() < name.size();
}

bool is_attachment(const DecodedEntry& decoded, const std::string& container_id) {
  const CachedResult& entry = decoded.entry;
  return decoded.kind == kCacheKind && !entry.ifname.empty() && !entry.network.empty() &&
         (container_id.empty() || entry.container_id == container_id);
}

}  // namespace

ResultCache::ResultCache(const std::string& cni_dir) : directory_(cat(cni_dir, "/results")) {}

Result<std::optional<std::string>> ResultCache::path_of(const std::string& network,
                                                        const std::string& container_id,
                                                        const std::string& ifname) const {
  if (network.empty() || container_id.empty() || ifname.empty()) {
    return Error(Errc::kInvalid, cat("cache file path requires network name (", go_quoted(network),
                                     "), container ID (", go_quoted(container_id),
                                     "), and interface name (", go_quoted(ifname), ")"));
  }
  if (!cni::is_identifier(network) || !cni::is_identifier(container_id) ||
      !cni::validate_ifname(ifname)) {
    return std::nullopt;
  }
  return cat(directory_, "/", network, "-", container_id, "-", ifname);
}

Result<void> ResultCache::write(const CachedResult& entry, sys::Durability durability) const {
  auto path = path_of(entry.network, entry.container_id, entry.ifname);
  if (!path) return std::move(path).error();
  if (!*path) {
    return Error(Errc::kInvalid,
                 cat("no file name can be made of network name ", go_quoted(entry.network),
                     ", container ID ", go_quoted(entry.container_id), " and interface name ",
                     go_quoted(entry.ifname)));
  }
  return replace_below(directory_, **path, entry_text(entry), durability);
}

Result<std::optional<json::Value>> ResultCache::find_result(const std::string& network,
                                                            const std::string& container_id,
                                                            const std::string& ifname) const {
  auto path = path_of(network, container_id, ifname);
  if (!path) return std::move(path).error();
  const auto text = find_text(*path);
  if (!text) return std::nullopt;
  auto result = result_in(*text);
  if (!result) return std::move(result).error();
  return *std::move(result);
}

Result<std::optional<CachedResult>> ResultCache::find(const std::string& network,
                                                      const std::string& container_id,
                                                      const std::string& ifname) const {
  auto path = path_of(network, container_id, ifname);
  if (!path) return std::move(path).error();
  const auto text = find_text(*path);
  if (!text) return std::nullopt;
  const std::string name = go_quoted(network);
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

Result<void> ResultCache::remove(const std::string& network, const std::string& container_id,
                                 const std::string& ifname) const {
  auto path = path_of(network, container_id, ifname);
  if (!path) return std::move(path).error();
  if (!*path) return {};
  MNET_FAIL_BLOCKING("result-cache-before-remove");
  auto removed = sys::remove_file(**path);
  if (!removed) return std::move(removed).error();
  MNET_FAIL_BLOCKING("result-cache-after-remove");
  return {};
}

Result<std::vector<CachedResult>> ResultCache::list(const std::string& container_id) const {
  std::vector<CachedResult> found;
  auto entries = sys::list_directory(directory_);
  if (!entries) {
    if (entries.error().code() == Errc::kNotFound) return found;
    return std::move(entries).error();
  }
  for (const sys::Entry& file : *entries) {
    // No network name begins with '.': that is a file being written.
    if (file.name.starts_with('.') || !may_be_of(file.name, container_id)) continue;
    const auto text = find_text(cat(directory_, "/", file.name));
    const auto document = json::parse(text.value_or(""));
    if (!document) continue;
    auto decoded = parse_entry(*document);
    if (decoded && is_attachment(*decoded, container_id)) {
      found.push_back(std::move(decoded->entry));
    }
  }
  return found;
}

Result<void> ResultCache::edit(const std::string& network, const std::string& container_id,
                               const std::string& ifname,
                               const std::function<Result<void>(json::Object&)>& change,
                               sys::Durability durability) const {
  auto path = path_of(network, container_id, ifname);
  if (!path) return std::move(path).error();
  if (!*path) return Error(Errc::kNotFound, cat("no cached result of ", go_quoted(network)));
  auto text = sys::read_file(**path);
  if (!text) return std::move(text).error();
  auto cache_file = json::parse_object(*text);
  if (!cache_file) return std::move(cache_file).error().wrap(**path);
  if (auto changed = change(*cache_file); !changed) return changed;
  return replace_below(directory_, **path, json::dump(*cache_file), durability);
}

Result<void> ResultCache::sync(const std::string& network, const std::string& container_id,
                               const std::string& ifname) const {
  auto path = path_of(network, container_id, ifname);
  if (!path) return std::move(path).error();
  if (!*path) return {};
  return sys::sync_file(**path);
}

}  // namespace mnet::store
