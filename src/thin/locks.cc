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

// All locks are in a folder that only root may open, or on it: a user who may open a folder may
// lock it for ever, and the kubelet makes `cni_dir` readable for every user of the node.
Result<std::string> make_folder(const std::string& cni_dir) {
  std::string folder = sys::directory_of(store::thin_lock(cni_dir, ""));
  MNET_TRY_VOID(sys::make_directories(folder, kDirectoryMode));
  return folder;
}

}  // namespace

Result<Locks> Locks::for_container(const std::string& cni_dir, const std::string& container_id) {
  MNET_TRY(const auto& folder, make_folder(cni_dir));
  Locks locks;
  MNET_TRY(auto&& container, sys::FileLock::take_file(store::thin_lock(cni_dir, container_id)));
  locks.container_ = std::move(container);
  // Last, so that a request that waits for its container does not keep a GC waiting.
  MNET_TRY(auto&& directory, sys::FileLock::take_directory(folder, sys::FileLock::Kind::kShared));
  locks.directory_ = std::move(directory);
  return locks;
}

Result<Locks> Locks::for_all(const std::string& cni_dir) {
  Locks locks;
  MNET_TRY(auto&& folder, make_folder(cni_dir));
  MNET_TRY(auto&& directory,
           sys::FileLock::take_directory(folder, sys::FileLock::Kind::kExclusive));
  locks.directory_ = std::move(directory);
  locks.cni_dir_ = cni_dir;
  locks.folder_ = std::move(folder);
  return locks;
}

Result<std::shared_ptr<void>> Locks::lock_one(const std::string& container_id) {
  directory_.release();
  MNET_TRY(auto&& container, sys::FileLock::try_file(store::thin_lock(cni_dir_, container_id)));
  if (!container) return std::shared_ptr<void>();
  const auto one = std::make_shared<Locks>();
  one->container_ = *std::move(container);
  MNET_TRY(auto&& shared, sys::FileLock::take_directory(folder_, sys::FileLock::Kind::kShared));
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
           sys::FileLock::take_directory(folder_, sys::FileLock::Kind::kExclusive));
  directory_ = std::move(directory);
  return {};
}

}  // namespace mnet::thin
