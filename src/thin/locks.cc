#include "thin/locks.h"

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/result.h"
#include "base/try.h"
#include "store/store.h"
#include "sys/file.h"
#include "sys/file_lock.h"

namespace mnet::thin {
namespace {

constexpr mode_t kDirectoryMode = 0700;

// Its folder exists when this returns.
Result<std::string> lock_path(const std::string& cni_dir, const std::string& container_id) {
  std::string path = store::thin_lock(cni_dir, container_id);
  MNET_TRY_VOID(sys::make_directories(sys::directory_of(path), kDirectoryMode));
  return path;
}

}  // namespace

Result<Locks> Locks::for_container(const std::string& cni_dir, const std::string& container_id) {
  MNET_TRY(const std::string path, lock_path(cni_dir, container_id));
  Locks locks;
  MNET_TRY(auto&& container, sys::FileLock::take_file(path));
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
  locks.cni_dir_ = cni_dir;
  return locks;
}

Result<std::shared_ptr<void>> Locks::lock_one(const std::string& container_id) {
  directory_.release();
  MNET_TRY(const std::string path, lock_path(cni_dir_, container_id));
  MNET_TRY(auto&& container, sys::FileLock::try_file(path));
  if (!container) return std::shared_ptr<void>();
  const auto one = std::make_shared<Locks>();
  one->container_ = *std::move(container);
  MNET_TRY(auto&& shared, sys::FileLock::take_directory(cni_dir_, sys::FileLock::Kind::kShared));
  one->directory_ = std::move(shared);
  return std::shared_ptr<void>(one);
}

// The kernel wakes what waits when the lock is free, but does not keep it for them: without the
// pause this process would have it again before they run.
Result<void> Locks::let_others_in() {
  constexpr std::chrono::milliseconds kHeadStart{20};
  directory_.release();
  std::this_thread::sleep_for(kHeadStart);
  MNET_TRY(auto&& directory,
           sys::FileLock::take_directory(cni_dir_, sys::FileLock::Kind::kExclusive));
  directory_ = std::move(directory);
  return {};
}

}  // namespace mnet::thin
