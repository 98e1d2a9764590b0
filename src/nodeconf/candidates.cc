#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "json/json.h"
#include "nodeconf/primary.h"
#include "sys/file.h"

namespace mnet::nodeconf {
namespace {

bool has_extension(std::string_view name, std::string_view extension) {
  return name.size() > extension.size() && name.ends_with(extension);
}

bool is_configuration(const std::string& path) {
  const auto text = sys::read_file(path);
  if (!text) return false;
  const auto object = json::parse_object(*text);
  return object && (object->find("type") != nullptr || object->find("plugins") != nullptr);
}

bool is_directory(const std::string& path) {
  std::error_code failed;
  return std::filesystem::is_directory(path, failed);
}

}  // namespace

std::vector<std::string> candidates(const std::vector<std::string>& names,
                                    const ChoiceRules& rules) {
  std::vector<std::string> found;
  for (const std::string& name : names) {
    const bool is_conf = has_extension(name, ".conf") || has_extension(name, ".conflist");
    if (is_conf && !name.starts_with(rules.own_prefix)) found.push_back(name);
  }
  std::ranges::sort(found);
  return found;
}

Result<std::vector<std::string>> list_candidates(const std::string& directory,
                                                 const ChoiceRules& rules) {
  const auto entries = sys::list_directory(directory);
  if (!entries) return entries.error();
  std::vector<std::string> names;
  for (const sys::Entry& entry : *entries) {
    if (!is_directory(cat(directory, "/", entry.name))) names.push_back(entry.name);
  }
  std::vector<std::string> found = candidates(names, rules);
  if (!found.empty() || !rules.takes_json) return found;
  for (const std::string& name : names) {
    if (!has_extension(name, ".json") || name.starts_with(rules.own_prefix)) continue;
    if (is_configuration(cat(directory, "/", name))) found.push_back(name);
  }
  return found;
}

Error no_candidate(std::string_view directory) {
  return Error(Errc::kNotFound, cat("could not find a plugin configuration in ", directory));
}

Result<void> check_master_name(std::string_view directory, std::string_view name) {
  if (name.empty()) return {};  // the base name below would be the directory's
  const std::string path = clean_path(cat(directory, "/", name));
  const std::string_view base = std::string_view(path).substr(path.rfind('/') + 1);
  if (!base.starts_with(kOwnPrefix)) return {};
  return Error(Errc::kInvalid, cat("cannot specify ", path, " to prevent recursive config load"));
}

}  // namespace mnet::nodeconf
