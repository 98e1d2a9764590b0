#include "adapters/file_networks.h"

#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "cni/conf.h"
#include "confdir/confdir.h"
#include "model/delegate.h"
#include "sys/file.h"

namespace mnet::adapters {
namespace {

Result<model::Delegate> delegate_of(Result<confdir::Loaded> loaded) {
  if (!loaded) return std::move(loaded).error();
  if (auto* conf = std::get_if<cni::PluginConf>(&*loaded)) {
    return model::delegate_of(std::move(*conf));
  }
  return model::delegate_of(std::get<cni::ConfList>(*std::move(loaded)));
}

Result<model::Delegate> load(const std::string& path, const std::string& own_type, const Log& log) {
  return delegate_of(confdir::load_path(path, log, own_type));
}

// Beside the file, or in the directory (02, 3.9).
Result<std::vector<cni::PluginConf>> load_chain(const std::string& path, const std::string& name) {
  return confdir::chained_plugins(sys::is_directory(path) ? path : sys::directory_of(path), name);
}

}  // namespace

// A small file that every ADD reads is in memory, and read faster than the pool is woken. A
// directory may take longer.
aio::Task<model::Delegate> FileNetworks::by_path(std::string path, std::string own_type) {
  if (!sys::is_directory(path)) co_return load(path, own_type, log_);
  co_return co_await pool_.run([path = std::move(path), own_type = std::move(own_type),
                                log = log_] { return load(path, own_type, log); });
}

aio::Task<model::Delegate> FileNetworks::by_name(std::string conf_dir, std::string name) {
  return pool_.run([conf_dir = std::move(conf_dir), name = std::move(name), log = log_] {
    return delegate_of(confdir::load_by_name(conf_dir, name, log));
  });
}

aio::Task<std::vector<cni::PluginConf>> FileNetworks::auxiliary_plugins(std::string path,
                                                                        std::string name) {
  return pool_.run(
      [path = std::move(path), name = std::move(name)] { return load_chain(path, name); });
}

aio::Task<bool> FileReadiness::exists(std::string path) {
  return pool_.run([path = std::move(path)]() -> Result<bool> {
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0) return true;
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return Error::from_errno(errno, cat("stat ", path));
  });
}

}  // namespace mnet::adapters
