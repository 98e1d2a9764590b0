#include "shim/pending.h"

#include <sys/stat.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/pending.h"
#include "sys/file.h"

namespace mnet::shim {
namespace {

Result<void> make_directory(const std::string& directory) {
  struct stat status{};
  if (::stat(directory.c_str(), &status) == 0) return {};
  MNET_TRY_VOID(sys::make_directories(directory, 0700));
  return sys::sync_file(directory);  // and its name in the directory above
}

}  // namespace

Result<std::string> write_pending_del(std::string_view cni_dir, std::string_view container_id,
                                      std::string_view ifname, std::string_view body) {
  const std::string directory = cni::pending_del_directory(cni_dir);
  MNET_TRY_VOID(make_directory(directory));
  std::string path = cat(directory, "/", cni::pending_del_file(container_id, ifname));
  MNET_TRY_VOID(sys::replace_file(path, body, 0600));
  return path;
}

}  // namespace mnet::shim
