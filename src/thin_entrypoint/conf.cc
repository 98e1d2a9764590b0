#include "thin_entrypoint/conf.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/version.h"
#include "json/at.h"
#include "json/json.h"
#include "nodeconf/generate.h"
#include "nodeconf/primary.h"
#include "sys/file.h"
#include "thin_entrypoint/options.h"

namespace mnet::thin_entrypoint {
namespace {

constexpr std::string_view kOld = ".old";
constexpr cni::VersionNumber kListsSince{1, 0, 0};

Error unusable(std::string text) { return {Errc::kInvalid, std::move(text)}; }

// The version of the output. A forced one is written into the copy of the primary, too.
Result<std::string> settle_version(const Options& options, const std::string& path,
                                   json::Object& primary) {
  const std::string* found = json::as_string(primary.find("cniVersion"));
  if (found == nullptr) {
    return unusable(
        cat("cannot get cniVersion in master CNI config file ", go_quoted(path, kWhole)));
  }
  std::string version = *found;
  if (!options.cni_version.empty() && version != options.cni_version) {
    if (!options.force_cni_version) {
      return unusable(cat("Multus cni version is ", go_quoted(options.cni_version),
                          " while master plugin cni version is ", go_quoted(version)));
    }
    version = options.cni_version;
    primary.set("cniVersion", version);
  }
  if (const auto number = cni::parse_version(version); !number) {
    return number.error().wrap(cat("cannot use cniVersion in master CNI config file ", path));
  }
  return version;
}

Result<std::string> settle_name(const Options& options, const std::string& path,
                                const json::Object& primary) {
  if (!options.override_network_name) return std::string(nodeconf::kNetworkName);
  const std::string* name = json::as_string(primary.find("name"));
  if (name != nullptr && !name->empty()) return *name;
  return unusable(cat("cannot get name in master CNI config file ", go_quoted(path, kWhole)));
}

// Of a list of plugins only their capabilities count, even if it is empty. `false` is kept.
nodeconf::Capabilities settle_capabilities(const json::Object& primary) {
  const json::Array* list = json::as_array(primary.find("plugins"));
  if (list != nullptr && list->empty()) return {};
  return nodeconf::capabilities_of(primary);
}

// Lines `"key": value,` in the order of the original.
class Lines {
 public:
  void add(std::string_view key, const json::Value& value) {
    lines_.push_back(cat(json::dump(key), ": ", json::dump(value, json::kSorted), ","));
  }
  void add_text(std::string_view key, const std::string& value) {
    if (!value.empty()) add(key, value);
  }
  std::string indented(std::string_view blanks) const {
    std::string out;
    for (const std::string& line : lines_) out += cat(blanks, line, "\n");
    return out;
  }

 private:
  std::vector<std::string> lines_;
};

json::Object object_of(const std::map<std::string, bool>& values) {
  json::Object out;
  for (const auto& [name, is_on] : values) out.append(name, is_on);
  return out;
}

Lines multus_lines(const Options& options, const std::string& log_level,
                   const std::map<std::string, bool>& capabilities) {
  Lines lines;
  lines.add("type", "multus");
  if (!capabilities.empty()) lines.add("capabilities", object_of(capabilities));
  if (options.namespace_isolation) lines.add("namespaceIsolation", true);
  lines.add_text("globalNamespaces", options.global_namespaces);
  if (!options.log_to_stderr) lines.add("logToStderr", false);
  lines.add_text("logLevel", log_level);
  lines.add_text("logFile", options.log_file);
  lines.add_text("binDir", options.additional_bin_dir);
  lines.add_text("cniConf", options.multus_cni_conf_dir);
  lines.add_text("readinessindicatorfile", options.readiness_indicator_file);
  lines.add("kubeconfig", options.kubeconfig_file_host);
  return lines;
}

std::string conf_text(const Lines& head, const Lines& multus, const std::string& delegate) {
  const std::string blanks(8, ' ');
  return cat("{\n", head.indented(blanks), multus.indented(blanks), blanks, "\"delegates\": [\n",
             blanks, blanks, delegate, "\n", blanks, "]\n}\n");
}

std::string conflist_text(const Lines& head, const Lines& multus, const std::string& delegate) {
  return cat("{\n", head.indented("    "), "    \"plugins\": [ {\n", multus.indented("        "),
             "        \"delegates\": [\n            ", delegate, "\n        ]\n    }]\n}\n");
}

Primary in_folder(const Options& options, const std::string& name) {
  std::string path = cat(options.autoconfig_dir, "/", name);
  std::string renamed = cat(path, kOld);
  if (options.rename_conf_file && !sys::exists(path) && sys::exists(renamed))
    return {name, renamed, true};
  return {name, path, false};
}

Result<std::vector<std::string>> names_in_folder(const Options& options) {
  MNET_TRY(auto&& entries, sys::list_directory(options.autoconfig_dir));
  std::vector<std::string> names;
  for (const sys::Entry& entry : entries) {
    if (sys::is_directory(cat(options.autoconfig_dir, "/", entry.name))) continue;
    std::string_view name = entry.name;
    if (options.rename_conf_file && name.ends_with(kOld)) name.remove_suffix(kOld.size());
    names.emplace_back(name);
  }
  return names;
}

}  // namespace

Result<std::string> log_level(const Options& options) {
  std::string level = to_lower(options.log_level);
  if (level.empty() || parse_log_level(level)) return level;
  return unusable(
      cat("Log levels should be one of: debug/verbose/error/panic, did not understand: ",
          go_quoted(options.log_level)));
}

Result<Conf> make_conf(const Options& options, const std::string& path, std::string_view text) {
  // Together with what surrounds it, it must stay within the depth that readers allow.
  auto primary = json::parse_object(text, json::kMaxDepth - 8);
  if (!primary) {
    return std::move(primary).error().wrap(path).wrap("cannot read master CNI config json");
  }
  if (const auto where = nodeconf::find_multus(*primary, "multus")) {
    return unusable(cat(path, " is a configuration of Multus itself (", *where,
                        "), not used, to prevent recursive config load"));
  }
  MNET_TRY(auto&& level, log_level(options));
  MNET_TRY(auto&& version, settle_version(options, path, *primary));
  MNET_TRY(auto&& name, settle_name(options, path, *primary));
  const nodeconf::Capabilities capabilities = settle_capabilities(*primary);

  Lines head;
  head.add("cniVersion", version);
  head.add("name", name);
  const Lines multus = multus_lines(options, level, capabilities.values);
  const std::string delegate = json::dump(*primary, json::kSorted);
  Conf out;
  for (const std::string& what : capabilities.ignored) {
    out.warnings.push_back(cat(path, ": ", what, "; ignored"));
  }
  const bool is_list = cni::at_least(version, kListsSince);
  out.file = is_list ? kConflist : kConf;
  out.text = is_list ? conflist_text(head, multus, delegate) : conf_text(head, multus, delegate);
  return out;
}

Result<Primary> choose_primary(const Options& options, const std::string& last) {
  if (!options.master_cni_file_name.empty()) {
    MNET_TRY_VOID(
        nodeconf::check_master_name(options.autoconfig_dir, options.master_cni_file_name));
    Primary named = in_folder(options, options.master_cni_file_name);
    if (sys::exists(named.path)) return named;
    return Error(Errc::kNotFound, cat("cannot find master CNI config ", named.path));
  }
  const std::string none = cat("cannot find valid master CNI config in ", options.autoconfig_dir);
  auto names = names_in_folder(options);
  if (!names) return std::move(names).error().wrap(none);
  const std::vector<std::string> found =
      nodeconf::candidates(*names, {.own_prefix = std::string(kConf), .takes_json = false});
  if (found.empty()) return Error(Errc::kNotFound, none);
  if (!last.empty() && found.front() > last) {
    return Error(Errc::kNotFound,
                 cat("the master CNI config ", options.autoconfig_dir, "/", last,
                     " is gone; waiting for it (restart to use ", found.front(), " instead)"));
  }
  return in_folder(options, found.front());
}

}  // namespace mnet::thin_entrypoint
