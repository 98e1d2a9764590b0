#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/spelling.h"
#include "base/text.h"
#include "cni/version.h"
#include "json/json.h"
#include "lint/config_rules.h"
#include "lint/finding.h"
#include "lint/objects.h"
#include "lint/rules.h"
#include "model/netconf.h"
#include "settings/config.h"
#include "settings/config_check.h"
#include "settings/daemon_keys.h"
#include "settings/fragments.h"
#include "yaml/places.h"

namespace mnet::lint {
namespace {

using namespace std::string_view_literals;

bool is_of_daemon(const Configuration& one) { return one.kind != ConfigKind::kCni; }

void check_keys(const json::Object& object, std::span<const std::string_view> known,
                const std::string& pointer, Reporter& report) {
  for (const auto& [key, value] : object) {
    const bool is_known =
        std::ranges::any_of(known, [&key](auto one) { return json::is_spelling_of(key, one); });
    const std::string meant = is_known ? std::string() : suggestion(key, known);
    if (meant.empty()) continue;
    report.key(cat(pointer, yaml::pointer_step(key)), "MN051",
               cat("unknown key ", go_quoted(key), " has no effect", meant));
  }
}

// What is wrong with one file or fragment by itself. The daemon also refuses a fragment that is
// wrong by itself.
void check_alone(const Configuration& configuration, std::vector<Finding>& out) {
  Reporter report(configuration.text, configuration.title, out);
  const auto object = json::parse_object(configuration.text.text());
  if (!object) return report.error("MN050", object.error().text());
  if (auto read = settings::config_of(*object); !read) report.error("MN050", read.error().text());
  check_keys(*object, settings::daemon_keys(), "", report);
  for (const auto& [key, value] : *object) {
    // Faults of `hotplug` are among the warnings below.
    const auto members = settings::daemon_members(key);
    if (members.empty() || value.as_object() == nullptr || key == "hotplug") continue;
    check_keys(*value.as_object(), members, yaml::pointer_step(key), report);
  }
}

// A file with the fragments that belong to it, each named by its index among the
// configurations.
std::optional<settings::Config> merge(const Objects& objects, std::size_t file) {
  const auto part_of = [&objects](std::size_t index) -> std::optional<settings::Fragment> {
    auto object = json::parse_object(objects.configurations[index].text.text());
    if (!object) return std::nullopt;
    return settings::Fragment{.path = std::to_string(index), .document = *std::move(object)};
  };
  std::vector<std::size_t> fragments;
  for (std::size_t i = 0; i < objects.configurations.size(); ++i) {
    const Configuration& one = objects.configurations[i];
    const bool is_its = one.kind == ConfigKind::kFragment &&
                        one.daemon_file == objects.configurations[file].daemon_file;
    if (is_its) fragments.push_back(i);
  }
  std::ranges::sort(fragments, {}, [&](std::size_t i) { return objects.configurations[i].name; });
  auto base = part_of(file);
  if (!base) return std::nullopt;
  settings::Parts parts{.file = *std::move(base)};
  for (const std::size_t index : fragments) {
    auto fragment = part_of(index);
    if (!fragment) return std::nullopt;
    parts.fragments.push_back(*std::move(fragment));
  }
  auto config = settings::merge_config(std::move(parts));
  return config ? std::optional(*std::move(config)) : std::nullopt;
}

// What the daemon says on standard error of a level that it does not know.
std::string fault_of_level(const std::string& level) {
  if (level.empty() || parse_log_level(level)) return {};
  constexpr std::array kLevels = {"panic"sv, "error"sv, "verbose"sv, "debug"sv};
  return cat("logLevel: ", go_quoted(level), " is not a level, and nothing but panics is logged: ",
             join({kLevels.begin(), kLevels.end()}, ", "), suggestion(level, kLevels));
}

// What the daemon refuses once it has read all keys, and keys without effect, by themselves or
// beside the others; reported where the key is written.
void check_merged(const Objects& objects, const settings::Config& config,
                  std::vector<Finding>& out) {
  const auto refuse = [&](std::string_view key, std::string_view code, std::string why) {
    const Configuration& written = objects.configurations[std::stoul(config.file_of(key))];
    Reporter(written.text, written.title, out).value(yaml::pointer_step(key), code, std::move(why));
  };
  if (const auto limit = settings::check_connection_limit(config); !limit) {
    refuse("connectionLimit", "MN050", limit.error().text());
  }
  if (!config.cni_version.empty() && !cni::is_supported(config.cni_version)) {
    refuse("cniVersion", "MN015", unknown_version(config.cni_version));
  }
  std::vector<std::string> warnings = settings::config_warnings(config);
  if (auto fault = fault_of_level(config.log_level); !fault.empty()) {
    warnings.push_back(std::move(fault));
  }
  for (const std::string& warning : warnings) {
    const std::string key = warning.substr(0, warning.find_first_of(" :."));
    const Configuration& written = objects.configurations[std::stoul(config.file_of(key))];
    Reporter(written.text, written.title, out).error("MN052", warning);
  }
}

}  // namespace

model::NetConf daemon_conf(const Objects& objects) {
  for (std::size_t i = 0; i < objects.configurations.size(); ++i) {
    if (objects.configurations[i].kind != ConfigKind::kDaemon) continue;
    auto config = merge(objects, i);
    if (!config) continue;
    auto conf = model::read_settings(config->document);
    if (conf) return *std::move(conf);
  }
  return {};
}

void check_daemon_configurations(const Objects& objects, std::vector<Finding>& out) {
  for (std::size_t i = 0; i < objects.configurations.size(); ++i) {
    const Configuration& one = objects.configurations[i];
    if (!is_of_daemon(one)) continue;
    check_alone(one, out);
    if (one.kind != ConfigKind::kDaemon) continue;
    if (const auto config = merge(objects, i)) check_merged(objects, *config, out);
  }
}

}  // namespace mnet::lint
