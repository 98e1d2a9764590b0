#include "thin/locks.h"

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/file.h"
#include "sys/file_lock.h"

namespace mnet::thin {
namespace {

constexpr mode_t kDirectoryMode = 0700;
// No container id begins with an underscore, so no scratch file has this name (05, 3.2).
constexpr std::string_view kLocks = "_locks";

}  // namespace

Result<Locks> Locks::for_container(const std::string& cni_dir, const std::string& container_id) {
  const std::string folder = cat(cni_dir, "/", kLocks);
  MNET_TRY_VOID(sys::make_directories(folder, kDirectoryMode));
  Locks locks;
  MNET_TRY(auto&& container, sys::FileLock::take_file(cat(folder, "/", container_id)));
  locks.container_ = std::move(container);
  // Last, so that a request that waits for its container does not keep a GC waiting.
  MNET_TRY(auto&& directory, sys::FileLock::take_directory(cni_dir, sys::FileLock::Kind::kShared));
  locks.directory_ = std::move(directory);
  return locks;
}

Result<Locks> Locks::for_all(const std::string& cni_dir) {
  MNET_TRY_VOID(sys::make_directories(cni_dir, kDirectoryMode));
  Locks locks;
  MNET_TRY(auto&& directory,
           sys::FileLock::take_directory(cni_dir, sys::FileLock::Kind::kExclusive));
  locks.directory_ = std::move(directory);
  return locks;
}

}  // namespace mnet::thin
