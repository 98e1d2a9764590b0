#include "nodeconf/restore.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "json/json.h"
#include "nodeconf/primary.h"
#include "sys/copy_file.h"
#include "sys/file.h"

namespace mnet::nodeconf {
namespace {

constexpr std::string_view kRenamed = ".old";  // by thin mode's --rename-conf-file

std::optional<json::Object> read_object(const std::string& path) {
  const auto text = sys::read_file(path);
  if (!text) return std::nullopt;
  auto object = json::parse_object(*text);
  if (!object) return std::nullopt;
  return *std::move(object);
}

bool names_multus(const std::string& path, std::string_view own_type) {
  const auto object = read_object(path);
  return object && find_multus(*object, own_type);
}

// Whatever its version: the runtime judges that.
bool is_primary(const std::string& path, std::string_view own_type) {
  return load_primary(path, "0.1.0", own_type).has_value();
}

std::optional<std::string> first_primary(const std::string& directory, std::string_view own_type) {
  const auto names = list_candidates(directory);
  if (!names) return std::nullopt;
  for (const std::string& name : *names) {
    std::string path = cat(directory, "/", name);
    if (is_primary(path, own_type)) return path;
  }
  return std::nullopt;
}

std::optional<std::string> cluster_network(const RestoreOptions& options) {
  const auto own = read_object(options.own_file);
  const json::Value* path = own ? own->find("clusterNetwork") : nullptr;
  if (path == nullptr || path->as_string() == nullptr) return std::nullopt;
  if (!is_primary(*path->as_string(), options.own_type)) return std::nullopt;
  return *path->as_string();
}

Result<std::string> copied(const std::string& from, const std::string& directory) {
  const std::string name = std::filesystem::path(from).filename().string();
  std::string to = cat(directory, "/", name);
  const auto done = sys::copy_file(from, to);
  if (!done) return done.error().wrap(cat("restoring the primary CNI configuration ", from));
  return cat(to, ", a copy of ", from);
}

std::optional<std::string> first_renamed(const RestoreOptions& options) {
  const auto entries = sys::list_directory(options.cni_config_dir);
  if (!entries) return std::nullopt;
  for (const sys::Entry& entry : *entries) {
    std::string path = cat(options.cni_config_dir, "/", entry.name);
    if (entry.name.ends_with(kRenamed) && is_primary(path, options.own_type)) return path;
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> restore_primary(const RestoreOptions& options) {
  if (auto there = first_primary(options.cni_config_dir, options.own_type)) return *there;
  if (const auto named = cluster_network(options)) return copied(*named, options.cni_config_dir);
  if (const auto found = first_primary(options.autoconfig_dir, options.own_type)) {
    return copied(*found, options.cni_config_dir);
  }
  const auto renamed = first_renamed(options);
  if (!renamed) return no_candidate(options.cni_config_dir);
  std::string back = renamed->substr(0, renamed->size() - kRenamed.size());
  if (std::rename(renamed->c_str(), back.c_str()) != 0) {
    return Error::from_errno(errno, cat("rename ", *renamed));
  }
  return cat(back, ", renamed from ", *renamed);
}

std::vector<std::string> other_multus_configs(const RestoreOptions& options) {
  std::vector<std::string> found;
  const auto names = list_candidates(options.cni_config_dir, {.own_prefix = "/"});
  if (!names) return found;
  for (const std::string& name : *names) {
    std::string path = cat(options.cni_config_dir, "/", name);
    if (path != options.own_file && names_multus(path, options.own_type)) found.push_back(path);
  }
  return found;
}

}  // namespace mnet::nodeconf
