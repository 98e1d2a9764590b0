#include <algorithm>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "nodeconf/own_file.h"
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

// In nanoseconds of the wall clock.
std::int64_t boot_time() {
  timespec up{}, now{};
  ::clock_gettime(CLOCK_BOOTTIME, &up);
  ::clock_gettime(CLOCK_REALTIME, &now);
  return (now.tv_sec - up.tv_sec) * 1'000'000'000 + (now.tv_nsec - up.tv_nsec);
}

bool has_only_loopback(const std::string& path) {
  const auto text = sys::read_file(path);
  const auto object = text ? json::parse_object(*text) : Result<json::Object>(text.error());
  if (!object) return false;
  const auto is_loopback = [](const json::Object& conf) {
    const json::Value* type = conf.find("type");
    return type != nullptr && type->as_string() != nullptr && *type->as_string() == "loopback";
  };
  const json::Value* plugins = object->find("plugins");
  if (plugins == nullptr || plugins->as_array() == nullptr) return is_loopback(*object);
  for (const json::Value& plugin : *plugins->as_array()) {
    if (plugin.as_object() == nullptr || !is_loopback(*plugin.as_object())) return false;
  }
  return !plugins->as_array()->empty();
}

constexpr std::string_view kNameIt = "set multusMasterCNI if this is the wrong file";

// 03, 10.3: leftovers are chosen when the real one comes late.
std::vector<std::string> doubts(const std::string& path) {
  std::vector<std::string> found;
  if (has_only_loopback(path)) {
    found.push_back(cat("the primary CNI configuration ", path, " holds only loopback; ", kNameIt));
  }
  if (const auto mark = mark_of(path); mark && mark->changed_ns < boot_time()) {
    found.push_back(
        cat("the primary CNI configuration ", path, " is older than this boot; ", kNameIt));
  }
  return found;
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
  MNET_TRY(const auto& entries, sys::list_directory(directory));
  std::vector<std::string> names;
  for (const sys::Entry& entry : entries) {
    if (!sys::is_directory(cat(directory, "/", entry.name))) names.push_back(entry.name);
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

Result<PrimaryChoice> choose_primary(const std::string& directory, std::string_view master) {
  PrimaryChoice choice;
  if (!master.empty()) {
    choice.path = clean_path(cat(directory, "/", master));
    choice.why = "named by multusMasterCNI";
    return choice;
  }
  MNET_TRY(const auto& found, list_candidates(directory));
  if (found.empty()) return no_candidate(directory);
  choice.path = cat(directory, "/", found.front());
  choice.why = found.size() == 1
                   ? cat("the only candidate in ", directory)
                   : cat("the first of ", found.size(), " in ", directory, ": ", join(found, " "));
  choice.warnings = doubts(choice.path);
  return choice;
}

Result<void> check_master_name(std::string_view directory, std::string_view name) {
  if (name.empty()) return {};  // the base name below would be the directory's
  const std::string path = clean_path(cat(directory, "/", name));
  const std::string_view base = std::string_view(path).substr(path.rfind('/') + 1);
  if (!base.starts_with(kOwnPrefix)) return {};
  return Error(Errc::kInvalid, cat("cannot specify ", path, " to prevent recursive config load"));
}

}  // namespace mnet::nodeconf
