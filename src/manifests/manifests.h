// The folder of manifests (`objectsDir`, 00-index): pods and network definitions from files instead
// of the Kubernetes API, followed as they change. What is written beside them: manifests/status.h,
// manifests/events.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "aio/blocking_pool.h"
#include "aio/event.h"
#include "aio/keyed_lock.h"
#include "aio/task.h"
#include "base/log.h"
#include "manifests/contents.h"
#include "manifests/objects.h"
#include "manifests/snapshot.h"
#include "model/objects.h"

namespace mnet::manifests {

struct Timing {
  std::chrono::milliseconds settling{50};  // what follows a first change so soon is read with it
  std::chrono::milliseconds pause{5000};   // between readings while inotify is not available
};

// Reads the files `*.yaml`, `*.yml` and `*.json` in the folder itself, except those that begin with
// a dot. A file with an error is reported once per change, with file, line and reason, and its
// last good objects stay in force. If several files hold the same object, the last file in
// byte order of the names counts.
//
// Lives on the event loop. Must outlive its tasks.
class Folder {
 public:
  // Reads nothing yet. The pool does the reading; it must outlive the task of follow().
  Folder(const std::string& path, aio::BlockingPool& pool, Log log, Timing timing = {});

  // Reads the folder and follows it until cancelled; to be started once, in a group. A missing
  // folder is reported and read as soon as it appears; the objects of one that goes away stay.
  aio::Task<void> follow();

  // Never nullptr; without objects before the folder was read for the first time.
  const std::shared_ptr<const Snapshot>& snapshot() const { return snapshot_; }

  // Whether something in it could not be read at some time, so that objects may be missing.
  bool has_faults() const { return has_faults_; }

  // Until the folder was read for the first time, or was found missing. kTimeout, kCancelled.
  aio::Task<void> wait_loaded(aio::Deadline deadline);

  bool is_loaded() const { return loaded_.is_set(); }

  // Until snapshot() differs from `seen`; yields the new one. kTimeout, kCancelled.
  aio::Task<std::shared_ptr<const Snapshot>> wait_newer(std::shared_ptr<const Snapshot> seen,
                                                        aio::Deadline deadline);

  // Reads the folder at once: what was in it when this was called is in snapshot() when it ends,
  // even if no event has told of it yet. Callers at the same time share a reading.
  aio::Task<void> reread();

  // Until a pod of that name fits the UID (PodObject::fits), at once if it does now. Otherwise, at
  // the deadline: kNotFound, or kConflict if there is such a pod with another UID. kCancelled.
  aio::Task<model::PodObjectPtr> wait_for_pod(std::string ns, std::string name, std::string uid,
                                              aio::Deadline deadline);

 private:
  aio::Task<void> watch();
  aio::Task<void> load(Touched touched);
  aio::Task<void> load_locked(Touched touched);
  void publish(Update update);
  Error not_there(const std::string& ns, const std::string& name, const std::string& uid) const;

  const std::string path_;
  aio::BlockingPool& pool_;
  const Log log_;
  const Timing timing_;
  Contents contents_;     // in the hands of the pool while a load waits
  aio::KeyedLock loads_;  // one at a time
  std::uint64_t whole_readings_ = 0;
  bool has_faults_ = false;
  std::shared_ptr<const Snapshot> snapshot_ = std::make_shared<const Snapshot>();
  aio::Event loaded_;
  aio::Notifier changes_;
};

}  // namespace mnet::manifests
