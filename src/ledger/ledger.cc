#include "ledger/ledger.h"

#include <sys/types.h>

#include <algorithm>
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
#include "json/fields.h"
#include "json/json.h"

namespace mnet::ledger {
namespace {

constexpr std::int64_t kVersion = 1;

using Names = std::vector<std::string>;

// Reads the members of an object that stands at `path`.
template <typename Read>
Result<void> read_members(const json::Value& value, const std::string& path, const Read& read) {
  const json::Object* object = value.as_object();
  if (object == nullptr) return json::wrong_kind(path, "an object", value);
  json::Fields fields(*object, path, json::Match::kExact);
  read(fields);
  return fields.done();
}

Result<void> read_object(const json::Value& value, const std::string& path,
                         std::vector<ObjectName>& out) {
  ObjectName& id = out.emplace_back();
  return read_members(value, path, [&](json::Fields& fields) {
    fields.read("apiVersion", id.api_version);
    fields.read("kind", id.kind);
    fields.read("namespace", id.ns);
    fields.read("name", id.name);
  });
}

Result<void> read_manifest(const json::Value& value, const std::string& path,
                           std::vector<ManifestEntry>& out) {
  ManifestEntry& manifest = out.emplace_back();
  return read_members(value, path, [&](json::Fields& fields) {
    fields.read("file", manifest.file);
    fields.read("hash", manifest.hash);
    fields.list("objects", [&](const json::Value& one, const std::string& where) {
      return read_object(one, where, manifest.objects);
    });
  });
}

// The hash becomes a file name.
Result<void> check_hash(const std::string& hash, const std::string& path) {
  const bool is_good =
      hash.empty() ||
      (hash.size() == 64 && hash.find_first_not_of("0123456789abcdef") == std::string::npos);
  if (is_good) return {};
  return Error(Errc::kInvalid, cat(path, ": not a SHA-256: ", go_quoted(hash)));
}

Result<void> read_version(const json::Object& in, const std::string& key, const std::string& path,
                          std::optional<FileVersion>& out) {
  const json::Value* value = in.find(key);
  if (value == nullptr || value->is_null()) return {};
  FileVersion version;
  std::int64_t mode = 0, user = 0, group = 0;
  const std::string where = cat(path, ".", key);
  MNET_TRY_VOID(read_members(*value, where, [&](json::Fields& fields) {
    fields.read("sha256", version.sha256);
    fields.read("link", version.link);
    fields.read("mode", mode);
    fields.read("user", user);
    fields.read("group", group);
  }));
  MNET_TRY_VOID(check_hash(version.sha256, where));
  if (!version.link.empty()) version.sha256.clear();
  version.mode = static_cast<mode_t>(mode) & 07777U;
  version.user = static_cast<uid_t>(user);
  version.group = static_cast<gid_t>(group);
  out = std::move(version);
  return {};
}

Result<void> read_owned(const json::Value& value, const std::string& path, OwnedFile& out) {
  MNET_TRY_VOID(read_members(value, path, [&](json::Fields& fields) {
    fields.read("path", out.path);
    fields.read("sha256", out.sha256);
    fields.read("earlier", out.earlier);
    fields.read("version", out.version);
  }));
  MNET_TRY_VOID(check_hash(out.sha256, path));
  return read_version(*value.as_object(), "kept", path, out.kept);
}

Result<void> read_change(const json::Value& value, const std::string& path, Change& out) {
  MNET_TRY_VOID(read_members(value, path, [&](json::Fields& fields) {
    fields.read("path", out.path);
    fields.read("undone", out.is_undone);
  }));
  const json::Object& object = *value.as_object();
  MNET_TRY_VOID(read_version(object, "before", path, out.before));
  MNET_TRY_VOID(read_version(object, "after", path, out.after));
  const json::Value* owned = object.find("ownedBefore");
  if (owned == nullptr || owned->is_null()) return {};
  return read_owned(*owned, cat(path, ".ownedBefore"), out.owned_before.emplace());
}

// Names become paths below directories of the node, even if another program wrote the file.
Result<void> check_names(const Names& names) {
  for (const std::string& name : names) {
    if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos) {
      return Error(Errc::kInvalid, cat("invalid name ", go_quoted(name)));
    }
  }
  return {};
}

json::Value value_of(const ManifestEntry& manifest) {
  json::Array objects;
  for (const ObjectName& id : manifest.objects) {
    objects.emplace_back(json::Object{{"apiVersion", id.api_version},
                                      {"kind", id.kind},
                                      {"namespace", id.ns},
                                      {"name", id.name}});
  }
  return json::Object{
      {"file", manifest.file}, {"hash", manifest.hash}, {"objects", std::move(objects)}};
}

json::Value value_of(const std::optional<FileVersion>& version) {
  if (!version) return {};
  json::Object out;
  const bool is_link = !version->link.empty();
  out.set(is_link ? "link" : "sha256", is_link ? version->link : version->sha256);
  out.set("mode", std::int64_t{version->mode});
  out.set("user", std::int64_t{version->user});
  out.set("group", std::int64_t{version->group});
  return out;
}

json::Value value_of(const OwnedFile& file) {
  json::Object out{{"path", file.path}, {"sha256", file.sha256}};
  if (!file.earlier.empty()) out.set("earlier", file.earlier);
  if (!file.version.empty()) out.set("version", file.version);
  if (file.kept) out.set("kept", value_of(file.kept));
  return out;
}

json::Value value_of(const Change& change) {
  json::Object out{{"path", change.path},
                   {"before", value_of(change.before)},
                   {"after", value_of(change.after)}};
  if (change.owned_before) out.set("ownedBefore", value_of(*change.owned_before));
  if (change.is_undone) out.set("undone", true);
  return out;
}

template <typename T>
json::Array array_of(const std::vector<T>& all) {
  json::Array out;
  out.reserve(all.size());
  for (const T& one : all) out.push_back(value_of(one));
  return out;
}

}  // namespace

std::vector<std::string> Ledger::manifest_files() const {
  Names out;
  out.reserve(manifests.size());
  for (const ManifestEntry& manifest : manifests) out.push_back(manifest.file);
  return out;
}

ManifestEntry* Ledger::find_manifest(std::string_view file) {
  const auto found = std::ranges::find(manifests, file, &ManifestEntry::file);
  return found == manifests.end() ? nullptr : &*found;
}

const ManifestEntry* Ledger::find_manifest(std::string_view file) const {
  const auto found = std::ranges::find(manifests, file, &ManifestEntry::file);
  return found == manifests.end() ? nullptr : &*found;
}

const OwnedFile* Ledger::find_file(std::string_view path) const {
  const auto found = std::ranges::find(files, path, &OwnedFile::path);
  return found == files.end() ? nullptr : &*found;
}

void Ledger::forget_file(std::string_view path) {
  std::erase_if(files, [&](const OwnedFile& file) { return file.path == path; });
}

Result<Ledger> parse_ledger(std::string_view text) {
  MNET_TRY(auto&& document, json::parse_object(text));
  Ledger out;
  std::int64_t version = 0;
  json::Fields head(document, "", json::Match::kExact);
  head.read("version", version);
  MNET_TRY_VOID(head.done());
  if (version != kVersion) {
    return Error(Errc::kProtocol, cat("unknown version ", version));
  }
  out.has_files = document.find("files") != nullptr;
  json::Fields fields(document, "", json::Match::kExact);
  fields.read("source", out.source);
  fields.read("plugins", out.plugins);
  fields.read("configs", out.configs);
  fields.list("manifests", [&](const json::Value& value, const std::string& path) {
    return read_manifest(value, path, out.manifests);
  });
  fields.list("files", [&](const json::Value& value, const std::string& path) {
    return read_owned(value, path, out.files.emplace_back());
  });
  fields.list("last", [&](const json::Value& value, const std::string& path) {
    return read_change(value, path, out.last.emplace_back());
  });
  MNET_TRY_VOID(fields.done());
  MNET_TRY_VOID(check_names(out.plugins));
  MNET_TRY_VOID(check_names(out.configs));
  if (!out.has_files) out.last.clear();
  return out;
}

std::string dump_ledger(const Ledger& ledger) {
  json::Object out{{"version", kVersion},
                   {"source", ledger.source},
                   {"plugins", ledger.plugins},
                   {"configs", ledger.configs},
                   {"manifests", array_of(ledger.manifests)}};
  if (ledger.has_files) {
    out.set("files", array_of(ledger.files));
    out.set("last", array_of(ledger.last));
  }
  return json::dump(out) + "\n";
}

}  // namespace mnet::ledger
