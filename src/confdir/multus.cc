#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/conf.h"
#include "cni/names.h"
#include "cni/types.h"
#include "confdir/confdir.h"
#include "confdir/plugin_files.h"
#include "sys/file.h"

namespace mnet::confdir {
namespace {

bool is_list_file(std::string_view path) { return path.ends_with(".conflist"); }

std::string_view kind_of(std::string_view path) {
  return is_list_file(path) ? "conflist" : "config";
}

// Multus as its own delegate would call itself forever.
Result<void> check_types(const Loaded& loaded, std::string_view own_type) {
  if (const auto* conf = std::get_if<cni::PluginConf>(&loaded)) {
    return cni::check_types(conf->object, own_type);
  }
  for (const cni::PluginConf& plugin : std::get<cni::ConfList>(loaded).plugins) {
    MNET_TRY_VOID(cni::check_types(plugin.object, own_type));
  }
  return {};
}

const std::string& name_of(const Loaded& loaded) {
  const auto* conf = std::get_if<cni::PluginConf>(&loaded);
  return conf != nullptr ? conf->name : std::get<cni::ConfList>(loaded).name;
}

Result<Loaded> load_any(const std::string& path) {
  if (is_list_file(path)) {
    MNET_TRY(auto&& list, load_chain(path));
    return list;
  }
  MNET_TRY(auto&& conf, load_conf_file(path));
  return conf;
}

Result<Loaded> load_foreign(const std::string& path, std::string_view own_type) {
  MNET_TRY(auto&& loaded, load_any(path));
  MNET_TRY_VOID(check_types(loaded, own_type));
  return loaded;
}

Result<std::vector<std::string>> network_files(const std::string& dir) {
  return conf_files(dir, {".conf", ".json", ".conflist"});
}

// Files that could not be used: logged at once, and named in the error at the end.
class Skipped {
 public:
  explicit Skipped(const Log& log) : log_(log) {}

  void add(const std::string& file, const Error& why) {
    texts_.push_back(cat("Error loading CNI ", kind_of(file), " file ", file, ": ", why.text()));
    log_.error(texts_.back());
  }

  Error not_found(std::string_view text) const {
    return Error(Errc::kNotFound,
                 texts_.empty() ? std::string(text) : cat(text, ": ", join(texts_, "; ")));
  }

 private:
  const Log& log_;
  std::vector<std::string> texts_;
};

Result<Loaded> load_first(const std::string& dir, std::string_view own_type, const Log& log) {
  Skipped skipped(log);
  auto files = network_files(dir);
  if (!files) return std::move(files).error().wrap("cannot find network");
  for (const std::string& file : *files) {
    auto loaded = load_foreign(file, own_type);
    if (loaded) return loaded;
    skipped.add(file, loaded.error());
  }
  return skipped.not_found(cat("cannot find network in ", dir));
}

}  // namespace

Result<std::vector<cni::PluginConf>> chained_plugins(const std::string& dir,
                                                     std::string_view network_name) {
  if (!cni::is_identifier(network_name)) {
    return Error(Errc::kInvalid, cat("invalid network config name: ", excerpt(network_name)));
  }
  MNET_TRY(auto&& files, plugin_files(dir, network_name));
  std::vector<cni::PluginConf> plugins;
  for (const std::string& file : files) {
    auto conf = load_conf_file(file);
    if (!conf) return std::move(conf).error().wrap(file);
    plugins.push_back(*std::move(conf));
  }
  return plugins;
}

Result<cni::ConfList> load_chain(const std::string& path) {
  auto list = parse_conflist_file(path);
  if (!list || list->load_only_inlined_plugins) return list;
  MNET_TRY(auto&& plugins, chained_plugins(sys::directory_of(path), list->name));
  auto chain = cni::with_plugins(*list, plugins);
  if (chain && chain->plugins.empty()) return Error(Errc::kInvalid, "no plugin configs found");
  return chain;
}

Result<Loaded> load_by_name(const std::string& dir, std::string_view name, const Log& log) {
  const auto files = network_files(dir);
  if (!files || files->empty()) {
    const std::string text = cat("No networks found in ", dir);
    return Error(Errc::kNotFound, files ? text : cat(text, ": ", files.error().text()));
  }
  Skipped skipped(log);
  for (const std::string& file : *files) {
    auto loaded = load_any(file);
    if (!loaded) {
      skipped.add(file, loaded.error());
    } else if (name_of(*loaded) == name) {
      return loaded;
    }
  }
  return skipped.not_found(
      cat("no network available in the name ", excerpt(name), " in cni dir ", dir));
}

Result<Loaded> load_path(const std::string& path, const Log& log, std::string_view own_type) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) return load_first(path, own_type, log);
  const std::string context = cat("error loading CNI ", kind_of(path), " file ", path);
  if (is_list_file(path) && std::filesystem::exists(status) &&
      !std::filesystem::is_regular_file(status)) {
    return Error(Errc::kInvalid, cat(context, ": not a regular file"));
  }
  auto loaded = load_foreign(path, own_type);
  if (!loaded) return std::move(loaded).error().wrap(context);
  return loaded;
}

}  // namespace mnet::confdir
