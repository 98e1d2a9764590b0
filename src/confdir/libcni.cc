#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/conf.h"
#include "cni/names.h"
#include "confdir/confdir.h"
#include "confdir/plugin_files.h"
#include "sys/file.h"

namespace mnet::confdir {
namespace {

// From the last dot, which may be the first character.
std::string_view extension_of(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot);
}

Result<std::string> load_text(const std::string& path) {
  auto text = sys::read_file(path);
  if (!text) return std::move(text).error().wrap(cat("error reading ", path));
  return text;
}

}  // namespace

Result<std::vector<std::string>> conf_files(const std::string& dir,
                                            const std::vector<std::string_view>& extensions) {
  std::vector<std::string> files;
  auto entries = sys::list_directory(dir);
  if (!entries) {
    if (entries.error().os_errno() == ENOENT) return files;
    return std::move(entries).error();
  }
  for (const sys::Entry& entry : *entries) {
    if (entry.kind == sys::EntryKind::kDirectory) continue;
    if (std::ranges::find(extensions, extension_of(entry.name)) == extensions.end()) continue;
    files.push_back(clean_path(cat(dir, "/", entry.name)));
  }
  return files;
}

Result<cni::PluginConf> load_conf_file(const std::string& path) {
  MNET_TRY(auto&& text, load_text(path));
  return cni::parse_conf(text);
}

Result<cni::ConfList> parse_conflist_file(const std::string& path) {
  MNET_TRY(auto&& text, load_text(path));
  return cni::parse_conflist(text);
}

Result<std::vector<std::string>> plugin_files(const std::string& dir,
                                              std::string_view network_name) {
  const std::string directory = clean_path(cat(dir, "/", network_name));
  auto files = conf_files(directory, {".conf"});
  if (!files) {
    return std::move(files).error().wrap(cat("failed to read plugin config files in ", directory));
  }
  return files;
}

Result<cni::ConfList> load_conflist_file(const std::string& path) {
  MNET_TRY(auto&& list, parse_conflist_file(path));
  // An invalid name has no sub-directory: the empty name would mean the directory itself, and
  // `../x` one outside it.
  if (!list.load_only_inlined_plugins && cni::is_identifier(list.name)) {
    MNET_TRY(auto&& files, plugin_files(sys::directory_of(path), list.name));
    for (const std::string& file : files) {
      MNET_TRY(auto&& conf, load_conf_file(file));
      list.plugins.push_back(std::move(conf));
    }
  }
  if (list.plugins.empty()) return Error(Errc::kInvalid, "no plugin configs found");
  return list;
}

Result<cni::ConfList> load_network(const std::string& dir, std::string_view name) {
  MNET_TRY(auto&& lists, conf_files(dir, {".conflist"}));
  for (const std::string& file : lists) {
    auto list = load_conflist_file(file);
    if (!list || list->name == name) return list;
  }
  MNET_TRY(auto&& confs, conf_files(dir, {".conf", ".json"}));
  for (const std::string& file : confs) {
    MNET_TRY(auto&& conf, load_conf_file(file));
    if (conf.name == name) return cni::conflist_of(conf);
  }
  if (lists.empty() && confs.empty()) {
    return Error(Errc::kUnavailable, cat("no net configurations found in ", dir));
  }
  return Error(Errc::kNotFound,
               cat("no net configuration with name ", go_quoted(name), " in ", dir));
}

}  // namespace mnet::confdir
