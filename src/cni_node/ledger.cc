#include "cni_node/ledger.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni_node/names.h"
#include "cni_node/objects.h"
#include "json/fields.h"
#include "json/json.h"
#include "nodetools/output.h"
#include "sys/file.h"

namespace mnet::cni_node {
namespace {

constexpr std::int64_t kVersion = 1;

Result<void> read_object(const json::Value& value, const std::string& path,
                         std::vector<ObjectName>& out) {
  const json::Object* object = value.as_object();
  if (object == nullptr) return json::wrong_kind(path, "an object", value);
  ObjectName& id = out.emplace_back();
  json::Fields fields(*object, path, json::Match::kExact);
  fields.read("apiVersion", id.api_version);
  fields.read("kind", id.kind);
  fields.read("namespace", id.ns);
  fields.read("name", id.name);
  return fields.done();
}

Result<void> read_manifest(const json::Value& value, const std::string& path,
                           std::vector<LedgerManifest>& out) {
  const json::Object* object = value.as_object();
  if (object == nullptr) return json::wrong_kind(path, "an object", value);
  LedgerManifest& manifest = out.emplace_back();
  json::Fields fields(*object, path, json::Match::kExact);
  fields.read("file", manifest.file);
  fields.read("hash", manifest.hash);
  fields.list("objects", [&](const json::Value& one, const std::string& where) {
    return read_object(one, where, manifest.objects);
  });
  return fields.done();
}

// Names become paths below directories of the node, even if another program wrote the file.
Result<void> check_names(const Names& names) {
  for (const std::string& name : names) {
    if (!is_valid_name(name)) return Error(Errc::kInvalid, cat("invalid name ", go_quoted(name)));
  }
  return {};
}

// As bad as damaged, whatever the system calls it.
Error unreadable(const Error& why) { return {Errc::kInvalid, why.text()}; }

json::Value value_of(const LedgerManifest& manifest) {
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

}  // namespace

Names Ledger::manifest_files() const {
  Names out;
  out.reserve(manifests.size());
  for (const LedgerManifest& manifest : manifests) out.push_back(manifest.file);
  return out;
}

LedgerManifest* Ledger::find_manifest(std::string_view file) {
  for (LedgerManifest& manifest : manifests) {
    if (manifest.file == file) return &manifest;
  }
  return nullptr;
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
  json::Fields fields(document, "", json::Match::kExact);
  fields.read("source", out.source);
  fields.read("plugins", out.plugins);
  fields.read("configs", out.configs);
  fields.list("manifests", [&](const json::Value& value, const std::string& path) {
    return read_manifest(value, path, out.manifests);
  });
  MNET_TRY_VOID(fields.done());
  MNET_TRY_VOID(check_names(out.plugins));
  MNET_TRY_VOID(check_names(out.configs));
  return out;
}

std::string dump_ledger(const Ledger& ledger) {
  json::Array manifests;
  manifests.reserve(ledger.manifests.size());
  for (const LedgerManifest& manifest : ledger.manifests) manifests.push_back(value_of(manifest));
  return json::dump(json::Object{{"version", kVersion},
                                 {"source", ledger.source},
                                 {"plugins", ledger.plugins},
                                 {"configs", ledger.configs},
                                 {"manifests", std::move(manifests)}}) +
         "\n";
}

Result<LedgerFile> LedgerFile::load(std::string path, nodetools::Output& output) {
  auto text = sys::find_file(path, 16u << 20);
  if (text && !*text) return LedgerFile(std::move(path), {});
  auto ledger = text ? parse_ledger(**text) : Result<Ledger>(unreadable(text.error()));
  if (!ledger && ledger.error().code() == Errc::kProtocol) {
    return std::move(ledger).error().wrap(path);
  }
  if (ledger) return LedgerFile(std::move(path), *std::move(ledger));
  const std::string aside = cat(path, ".corrupt");
  output.complain(path, cat("warning: damaged (", ledger.error().text(), "), set aside as ", aside,
                            "; what was installed before is unknown"));
  if (std::rename(path.c_str(), aside.c_str()) != 0) {
    return Error::from_errno(errno, cat("rename ", path));
  }
  return LedgerFile(std::move(path), {});
}

Result<void> LedgerFile::save() {
  if (ledger_ == saved_) return {};
  MNET_TRY_VOID(sys::replace_file(path_, dump_ledger(ledger_), 0600));
  saved_ = ledger_;
  return {};
}

}  // namespace mnet::cni_node
