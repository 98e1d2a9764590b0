#include "store/cache_entry.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/args.h"
#include "cni/cache.h"
#include "json/at.h"
#include "json/fields.h"
#include "json/json.h"

namespace mnet::store {
namespace {

json::Array pairs_json(const cni::ArgPairs& pairs) {
  json::Array list;
  for (const auto& [key, value] : pairs) list.emplace_back(json::Array{key, value});
  return list;
}

// One `["K","V"]`. Shorter and longer lists are read as the original's reader does: missing texts
// are empty, further ones ignored.
Result<std::pair<std::string, std::string>> read_pair(const json::Value& value, std::string path) {
  json::Object holder;
  holder.append("pair", value);
  std::vector<std::string> texts;
  json::Fields fields(holder, std::move(path));
  fields.read("pair", texts);
  MNET_TRY_VOID(fields.done());
  texts.resize(2);
  return std::pair(std::move(texts[0]), std::move(texts[1]));
}

// It may have a megabyte and is decoded where it stands.
Result<void> read_config(json::Fields& fields, std::string& config) {
  const std::string* encoded = json::as_string(fields.find("config"));
  if (encoded == nullptr) {
    std::string none;
    fields.read("config", none);  // absent, null or an error
    return {};
  }
  if (from_base64(*encoded, config)) return {};
  return Error(Errc::kInvalid, "config: not base64");
}

// What is not a small number says nothing: all plugins are left.
std::optional<std::size_t> deleted_from(const json::Value& document) {
  json::Fields fields(*document.as_object(), {}, json::Match::kExact);
  std::optional<std::uint64_t> from;
  fields.read(kDeletedFrom, from);
  return fields.done() ? from : std::nullopt;
}

}  // namespace

std::string entry_text(cni::CacheEntry entry) {
  json::Object object;
  object.append("kind", kCacheKind);
  object.append("containerId", entry.container_id);
  object.append("config", entry.config.empty() ? json::Value() : to_base64(entry.config));
  std::string().swap(entry.config);  // there are enough copies of it
  object.append("ifName", entry.ifname);
  object.append("networkName", entry.network);
  if (!entry.netns.empty()) object.append("netns", entry.netns);
  if (!entry.cni_args.empty()) object.append("cniArgs", pairs_json(entry.cni_args));
  if (!entry.capability_args.empty()) {
    object.append("capabilityArgs", std::move(entry.capability_args));
  }
  if (entry.result) object.append("result", *std::move(entry.result));
  return json::dump(object);
}

Result<DecodedEntry> parse_entry(const json::Value& document) {
  DecodedEntry out;
  if (document.is_null()) return out;
  const json::Object* object = document.as_object();
  if (object == nullptr) return json::wrong_kind("cache file", "an object", document);
  cni::CacheEntry& entry = out.entry;
  json::Fields fields(*object);
  fields.read("kind", out.kind);
  fields.read("containerId", entry.container_id);
  fields.read("ifName", entry.ifname);
  fields.read("networkName", entry.network);
  fields.read("netns", entry.netns);
  fields.list("cniArgs", [&](const json::Value& value, std::string path) -> Result<void> {
    MNET_TRY(auto&& pair, read_pair(value, std::move(path)));
    entry.cni_args.push_back(std::move(pair));
    return {};
  });
  fields.object("capabilityArgs",
                [&](const json::Object& args, const std::string&) -> Result<void> {
                  entry.capability_args = args;
                  return {};
                });
  fields.object("result", [&](const json::Object& result, const std::string&) -> Result<void> {
    entry.result = result;
    return {};
  });
  MNET_TRY_VOID(read_config(fields, entry.config));
  MNET_TRY_VOID(fields.done());
  return out;
}

Result<cni::CachedResult> result_in(std::string text) {
  auto document = json::parse(text);
  std::string().swap(text);
  // The words of the reader that would have looked for the version of a legacy result.
  if (!document) return std::move(document).error().wrap("decoding version from network config");
  auto decoded = parse_entry(*document);
  if (!decoded || decoded->kind != kCacheKind) {
    return cni::CachedResult{.result = *std::move(document)};
  }
  cni::CachedResult cached{.result = json::Object(), .deleted_from = deleted_from(*document)};
  if (decoded->entry.result) cached.result = *std::move(decoded->entry.result);
  return cached;
}

}  // namespace mnet::store
