#include "shim/pending.h"

#include <sys/stat.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "cni/pending.h"
#include "sys/file.h"

namespace mnet::shim {
namespace {

Result<void> make_directory(const std::string& directory) {
  struct stat status{};
  if (::stat(directory.c_str(), &status) == 0) return {};
  if (auto made = sys::make_directories(directory, 0700); !made) return made;
  return sys::sync_file(directory);  // and its name in the directory above
}

}  // namespace

Result<std::string> write_pending_del(std::string_view cni_dir, std::string_view container_id,
                                      std::string_view ifname, std::string_view body) {
  const std::string directory = cni::pending_del_directory(cni_dir);
  if (auto made = make_directory(directory); !made) return std::move(made).error();
  std::string path = cat(directory, "/", cni::pending_del_file(container_id, ifname));
  if (auto written = sys::replace_file(path, body, 0600); !written) {
    return std::move(written).error();
  }
  return path;
}

}  // namespace mnet::shim
