// Locks between two daemons of one socket, one for each container that a daemon works on. While a
// daemon is alone there are no locks, and it only remembers which containers it works on. Lives on
// the event loop.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "aio/event.h"
#include "aio/task.h"
#include "attach/ports.h"
#include "base/result.h"
#include "sys/file_lock.h"

namespace mnet::handover {

struct LockTimes {
  std::chrono::milliseconds retry{20};   // between two looks at a lock that another daemon holds
  std::chrono::milliseconds gc{60'000};  // how long a GC waits for another daemon to end
};

class ContainerLocks final : public attach::ContainerLocks {
 public:
  // The lock files go to `directory`, which exists only while locks are shared. `end_orphans` ends
  // the delegates of daemons that were killed; it is awaited before work on a container whose lock
  // such a daemon held.
  using EndOrphans = std::function<aio::Task<void>()>;
  ContainerLocks(std::string directory, EndOrphans end_orphans, LockTimes times = {});
  ContainerLocks(const ContainerLocks&) = delete;
  ContainerLocks& operator=(const ContainerLocks&) = delete;

  // Does not wait for a pool thread. kCancelled; another error if the lock file cannot be made.
  aio::Task<std::shared_ptr<void>> lock(std::string container_id) override;
  aio::Task<std::shared_ptr<void>> lock_all() override;
  // Locks that are taken for this container meanwhile are held until the returned object goes.
  // Never waits.
  std::shared_ptr<void> keep(const std::string& container_id) { return entry(container_id); }

  // From now on each container has a lock; containers in work have theirs when this returns. On an
  // error (a GC runs, a lock cannot be taken) nothing has changed.
  Result<void> share();
  // For when no other daemon runs: gives all locks back, and removes those of killed daemons.
  void unshare();
  bool is_shared() const { return is_shared_; }

 private:
  // One container that this daemon works on, or waits for.
  struct Entry {
    sys::FileLock file;
  };

  std::shared_ptr<Entry> entry(const std::string& container_id);
  std::string path_of(const std::string& container_id) const;
  Result<std::optional<sys::FileLock>> try_lock(const std::string& container_id) const;

  std::string directory_;
  EndOrphans end_orphans_;
  LockTimes times_;
  bool is_shared_ = false;
  std::map<std::string, std::weak_ptr<Entry>, std::less<>> entries_;
  std::weak_ptr<void> gc_;  // the GC that runs
  aio::Notifier unshared_;
};

}  // namespace mnet::handover
