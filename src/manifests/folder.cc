#include <sys/inotify.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "aio/blocking_pool.h"
#include "aio/cancel.h"
#include "aio/readable.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "manifests/contents.h"
#include "manifests/manifests.h"
#include "manifests/snapshot.h"
#include "model/objects.h"
#include "sys/directory_watch.h"
#include "sys/file_events.h"

namespace mnet::manifests {
namespace {

Touched everything() { return {.written = {}, .created = {}, .everything = true}; }

void note(const sys::FileEvent& event, Touched& touched) {
  // `..data`: a ConfigMap's volume is exchanged as a whole. `#123`: a file without a name was
  // written and then linked to one.
  if (event.name.starts_with("..") || event.name.starts_with('#')) touched.everything = true;
  if (!is_manifest_name(event.name) || (event.mask & IN_ISDIR) != 0) return;
  auto& names = (event.mask & IN_CREATE) != 0 ? touched.created : touched.written;
  names.insert(event.name);
}

Touched touched_by(const sys::DirectoryWatch::Changes& changes) {
  Touched touched{.written = {}, .created = {}, .everything = changes.lost};
  for (const sys::FileEvent& event : changes.events) note(event, touched);
  return touched;
}

}  // namespace

Folder::Folder(const std::string& path, aio::BlockingPool& pool, Log log, Timing timing)
    : path_(clean_path(path)),
      pool_(pool),
      log_(std::move(log)),
      timing_(timing),
      contents_(path_) {}

// Inotify can fail: its limits count for all programs of a user.
aio::Task<void> Folder::follow() {
  std::string reported;
  for (;;) {
    const auto began = std::chrono::steady_clock::now();
    auto ended = co_await watch();
    const bool is_cancelled = co_await aio::cancelled();
    if (is_cancelled) co_return aio::cancelled_error();
    // The same trouble again is news only if there was none in between.
    if (std::chrono::steady_clock::now() - began > timing_.pause) reported.clear();
    if (!ended && ended.error().text() != reported) {
      reported = ended.error().text();
      log_.error(cat("cannot watch the objects folder ", path_), ended.error());
    }
    auto loaded = co_await load(everything());
    if (!loaded) log_.error(cat("cannot read the objects folder ", path_), loaded.error());
    MNET_CO_TRY_VOID(co_await aio::sleep_for(timing_.pause));
  }
}

// Ends only with an error.
aio::Task<void> Folder::watch() {
  MNET_CO_TRY(auto&& watch, sys::DirectoryWatch::make({path_}, sys::DirectoryWatch::kClosed));
  const auto executor = co_await aio::asio::this_coro::executor;
  aio::Readable readable(executor, watch.fd());

  Touched touched = everything();
  for (;;) {
    if (!touched.nothing()) {
      MNET_CO_TRY_VOID(co_await load(std::move(touched)));
    }
    MNET_CO_TRY_VOID(co_await readable.wait());
    MNET_CO_TRY_VOID(co_await aio::sleep_for(timing_.settling));
    MNET_CO_TRY(const auto& changes, watch.take_changes());
    touched = touched_by(changes);
  }
}

aio::Task<void> Folder::load(Touched touched) {
  MNET_CO_TRY([[maybe_unused]] const auto& guard, co_await loads_.lock(""));
  co_return co_await load_locked(std::move(touched));
}

aio::Task<void> Folder::reread() {
  // A reading that runs already may have passed the file that the caller means.
  const std::uint64_t wanted = whole_readings_ + 1;
  MNET_CO_TRY([[maybe_unused]] const auto& guard, co_await loads_.lock(""));
  if (whole_readings_ >= wanted) co_return Result<void>();
  co_return co_await load_locked(everything());
}

aio::Task<void> Folder::load_locked(Touched touched) {
  if (touched.everything) ++whole_readings_;
  auto read = [this, touched = std::move(touched)]() -> Result<Update> {
    return contents_.load(touched);
  };
  MNET_CO_TRY(auto&& update, co_await pool_.run(std::move(read)));
  publish(std::move(update));
  co_return Result<void>();
}

void Folder::publish(Update update) {
  has_faults_ = has_faults_ || !update.errors.empty();
  for (const std::string& error : update.errors) log_.error(cat("objects: ", error));
  for (const std::string& warning : update.warnings) log_.warning(cat("objects: ", warning));
  if (update.snapshot != nullptr) {
    snapshot_ = std::move(update.snapshot);
    log_.verbose(cat("objects: ", snapshot_->pods().size(), " pods and ",
                     snapshot_->networks().size(), " network definitions in ", path_));
    changes_.notify_all();
  }
  loaded_.set();
}

aio::Task<void> Folder::wait_loaded(aio::Deadline deadline) { return loaded_.wait(deadline); }

aio::Task<std::shared_ptr<const Snapshot>> Folder::wait_newer(std::shared_ptr<const Snapshot> seen,
                                                              aio::Deadline deadline) {
  while (snapshot_ == seen) {
    MNET_CO_TRY_VOID(co_await changes_.wait(deadline));
  }
  co_return snapshot_;
}

aio::Task<model::PodObjectPtr> Folder::wait_for_pod(std::string ns, std::string name,
                                                    std::string uid, aio::Deadline deadline) {
  for (;;) {
    auto pod = snapshot_->find_pod(ns, name);
    if (pod != nullptr && pod->fits(uid)) co_return pod;
    if (deadline <= std::chrono::steady_clock::now()) co_return not_there(ns, name, uid);
    auto changed = co_await changes_.wait(deadline);
    if (changed) continue;
    if (changed.error().code() != Errc::kTimeout) co_return std::move(changed).error();
    co_return not_there(ns, name, uid);
  }
}

Error Folder::not_there(const std::string& ns, const std::string& name,
                        const std::string& uid) const {
  const auto pod = snapshot_->find_pod(ns, name);
  if (pod == nullptr && !snapshot_->unread().empty()) {
    return Error(Errc::kUnavailable,
                 cat("cannot tell whether pod ", ns, "/", name, " exists: ", snapshot_->unread()));
  }
  if (pod == nullptr) {
    return Error(Errc::kNotFound, cat("pod ", ns, "/", name, " not found in ", path_));
  }
  return Error(Errc::kConflict, cat("expected pod UID ", go_quoted(uid), " but got ",
                                    go_quoted(pod->uid), " from ", path_));
}

}  // namespace mnet::manifests
