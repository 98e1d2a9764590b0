#include "cni_node/manifests.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/try.h"
#include "cni_node/command.h"
#include "cni_node/object_server.h"
#include "cni_node/object_writer.h"
#include "cni_node/objects.h"
#include "cni_node/substitute.h"
#include "kube/kube.h"
#include "nodetools/api_access.h"
#include "nodetools/output.h"
#include "sys/directory.h"

namespace mnet::cni_node {
namespace {

constexpr std::size_t kMaxManifest = 16u << 20;
constexpr std::chrono::seconds kFresh{1};

bool has_secret(const Result<std::vector<ManifestObject>>& objects, std::string_view text) {
  if (!objects) return may_hold_secret(text);
  return std::ranges::any_of(*objects, [](const auto& one) { return one.id.kind == "Secret"; });
}

std::vector<ObjectName> names_of(const std::vector<ManifestObject>& objects) {
  std::vector<ObjectName> out;
  out.reserve(objects.size());
  for (const ManifestObject& object : objects) out.push_back(object.id);
  return out;
}

}  // namespace

Manifests::Manifests(const Command& command, nodetools::Output& output)
    : command_(command), output_(output) {}

void Manifests::use(kube::Api& api, WriterSettings settings) {
  writer_.emplace(api, std::move(settings), output_);
}

Result<ObjectWriter*> Manifests::writer() {
  if (writer_) return &*writer_;
  MNET_TRY(auto&& client, nodetools::make_api_client(command_.access, "cni-node", Log()));
  own_api_ = std::move(client.api);
  use(*own_api_, {.ns = client.ns,
                  .field_manager = command_.field_manager,
                  .wait_time = command_.wait_time,
                  .is_dry = command_.is_dry,
                  .tells_changes = true});
  return &*writer_;
}

Result<LoadedManifest> Manifests::load(const std::string& name) const {
  const std::string& source = command_.directories.manifest_source;
  MNET_TRY(auto&& directory, sys::Directory::open(source));
  MNET_TRY(auto&& found, directory.find(name, kMaxManifest));
  if (!found) return Error(Errc::kNotFound, cat("no such manifest in ", source));
  auto replaced = substitute(found->bytes, variables_of(command_.access.environment),
                             command_.allowed_variables);
  if (command_.is_strict && !replaced.unset.empty()) {
    return Error(Errc::kInvalid, cat("variable ", replaced.unset.front(), " is not set"));
  }
  std::string hash = cat("sha256:", sha256_hex(replaced.text));
  return LoadedManifest{.text = std::move(replaced.text),
                        .hash = std::move(hash),
                        .unset = std::move(replaced.unset),
                        .is_private = (found->mode & 0004U) == 0};
}

bool Manifests::may_be_unfinished(const std::string& name) const {
  struct stat status{};
  const std::string path = cat(command_.directories.manifest_source, "/", name);
  if (::stat(path.c_str(), &status) != 0) return false;
  const auto changed = std::chrono::system_clock::time_point(
      std::chrono::seconds(status.st_mtim.tv_sec) +
      std::chrono::duration_cast<std::chrono::system_clock::duration>(
          std::chrono::nanoseconds(status.st_mtim.tv_nsec)));
  const auto age = std::chrono::system_clock::now() - changed;
  return age >= std::chrono::seconds(0) && age < kFresh;  // clocks may be wrong
}

Result<std::vector<ManifestObject>> Manifests::show_and_parse(const std::string& name,
                                                              const LoadedManifest& manifest,
                                                              std::string_view doing) {
  for (const std::string& variable : manifest.unset) {
    output_.complain(name, cat("variable ", variable, " is not set"));
  }
  auto objects = parse_manifest(manifest.text);
  output_.print(doing);
  const bool is_withheld = manifest.is_private || has_secret(objects, manifest.text);
  if (!command_.is_quiet) {
    output_.print(nodetools::block(name, is_withheld ? "(content withheld)" : manifest.text));
  }
  return objects;
}

aio::Task<bool> Manifests::install(std::string name) { return change(std::move(name), true); }

aio::Task<bool> Manifests::remove(std::string name) { return change(std::move(name), false); }

aio::Task<bool> Manifests::change(std::string name, bool is_wanted) {
  MNET_CO_TRY(auto&& manifest, load(name));
  MNET_CO_TRY(auto&& objects, show_and_parse(name, manifest, is_wanted ? kApplying : kDeleting));
  if (objects.empty()) co_return false;  // no request is needed
  MNET_CO_TRY(auto&& api, writer());
  const int before = api->changes();
  aio::Task<void> work =
      is_wanted ? api->apply(name, std::move(objects)) : api->remove(name, names_of(objects));
  MNET_CO_TRY_VOID(co_await std::move(work));
  co_return api->changes() != before;
}

}  // namespace mnet::cni_node
