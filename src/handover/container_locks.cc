#include "handover/container_locks.h"

#include <unistd.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/file.h"
#include "sys/file_lock.h"

namespace mnet::handover {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

ContainerLocks::ContainerLocks(std::string directory, EndOrphans end_orphans, LockTimes times)
    : directory_(std::move(directory)), end_orphans_(std::move(end_orphans)), times_(times) {}

std::shared_ptr<ContainerLocks::Entry> ContainerLocks::entry(const std::string& container_id) {
  const auto place = entries_.try_emplace(container_id).first;
  if (auto known = place->second.lock()) return known;
  std::shared_ptr<Entry> made(new Entry, [this, container_id](Entry* gone) {
    delete gone;
    entries_.erase(container_id);
  });
  place->second = made;
  return made;
}

// No lock's name begins with a dot or holds a slash, because no container id does (01, 2.2).
std::string ContainerLocks::path_of(const std::string& container_id) const {
  return cat(directory_, "/", container_id);
}

// A directory that another daemon removes just now is made again by the next try.
Result<std::optional<sys::FileLock>> ContainerLocks::try_lock(
    const std::string& container_id) const {
  MNET_TRY_VOID(sys::make_directories(directory_, 0700));
  auto tried = sys::FileLock::try_file(path_of(container_id));
  if (!tried && tried.error().code() == Errc::kNotFound) return std::optional<sys::FileLock>();
  return tried;
}

aio::Task<std::shared_ptr<void>> ContainerLocks::lock(std::string container_id) {
  auto held = entry(container_id);
  while (is_shared_ && !held->file) {
    MNET_CO_TRY(auto&& taken, try_lock(container_id));
    if (!taken) {
      MNET_CO_TRY_VOID(co_await aio::sleep_for(times_.retry));
      continue;
    }
    if (taken->was_left()) {
      MNET_CO_TRY_VOID(co_await end_orphans_());
    }
    held->file = *std::move(taken);
  }
  co_return std::move(held);
}

aio::Task<std::shared_ptr<void>> ContainerLocks::lock_all() {
  const auto deadline = Clock::now() + times_.gc;
  while (is_shared_) {
    auto waited = co_await unshared_.wait(deadline);
    if (!waited && waited.error().code() == Errc::kTimeout) {
      co_return Error(Errc::kUnavailable,
                      "another daemon of this node still runs, and a GC needs to be alone");
    }
    if (!waited) co_return std::move(waited).error();
  }
  auto running = gc_.lock();
  if (!running) running = std::make_shared<int>();
  gc_ = running;
  co_return std::move(running);
}

Result<void> ContainerLocks::share() {
  if (is_shared_) return {};
  if (!gc_.expired()) return Error(Errc::kUnavailable, "a GC runs");
  std::vector<std::pair<std::shared_ptr<Entry>, sys::FileLock>> taken;
  for (const auto& [container_id, known] : entries_) {
    auto in_work = known.lock();
    if (!in_work) continue;
    MNET_TRY(auto&& lock, try_lock(container_id));
    if (!lock) return Error(Errc::kUnavailable, cat(path_of(container_id), " is locked already"));
    taken.emplace_back(std::move(in_work), *std::move(lock));
  }
  for (auto& [in_work, lock] : taken) in_work->file = std::move(lock);
  is_shared_ = true;
  return {};
}

void ContainerLocks::unshare() {
  is_shared_ = false;
  for (const auto& [container_id, known] : entries_) {
    if (const auto in_work = known.lock()) in_work->file.release();
  }
  if (auto left = sys::list_directory(directory_)) {
    // A lock that is taken and given back is removed.
    for (const sys::Entry& file : *left) (void)sys::FileLock::try_file(path_of(file.name));
  }
  ::rmdir(directory_.c_str());
  unshared_.notify_all();
}

}  // namespace mnet::handover
