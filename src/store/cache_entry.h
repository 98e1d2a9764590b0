// The text of one result-cache entry (01, 6.2). Internal to store; no files here.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json.h"
#include "store/store.h"

namespace mnet::store {

inline constexpr std::string_view kCacheKind = "cniCacheV1";
// Our own member, which others ignore (cni::CachedResult::deleted_from).
inline constexpr std::string_view kDeletedFrom = "deletedFrom";

// A text that decodes as an entry, of whatever kind it calls itself.
struct DecodedEntry {
  std::string kind;
  cni::CacheEntry entry;
};

std::string entry_text(cni::CacheEntry entry);
Result<DecodedEntry> parse_entry(const json::Value& document);

// The result in the text of a cache file: of an entry, or for any other document the document
// itself (01, 6.4, legacy).
Result<cni::CachedResult> result_in(std::string text);

}  // namespace mnet::store
