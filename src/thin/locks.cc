#include "thin/locks.h"

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
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
  if (auto made = sys::make_directories(folder, kDirectoryMode); !made) {
    return std::move(made).error();
  }
  Locks locks;
  auto container = sys::FileLock::take_file(cat(folder, "/", container_id));
  if (!container) return std::move(container).error();
  locks.container_ = *std::move(container);
  // Last, so that whoever waits for a container keeps no GC waiting.
  auto directory = sys::FileLock::take_directory(cni_dir, sys::FileLock::Kind::kShared);
  if (!directory) return std::move(directory).error();
  locks.directory_ = *std::move(directory);
  return locks;
}

Result<Locks> Locks::for_all(const std::string& cni_dir) {
  if (auto made = sys::make_directories(cni_dir, kDirectoryMode); !made) {
    return std::move(made).error();
  }
  Locks locks;
  auto directory = sys::FileLock::take_directory(cni_dir, sys::FileLock::Kind::kExclusive);
  if (!directory) return std::move(directory).error();
  locks.directory_ = *std::move(directory);
  return locks;
}

}  // namespace mnet::thin
