#include "ledger/owned_files.h"

#include <sys/types.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "ledger/ledger.h"
#include "ledger/ledger_file.h"
#include "sys/copy_file.h"
#include "sys/directory.h"
#include "sys/file.h"

namespace mnet::ledger {
namespace {

constexpr std::string_view kTemporary = ".cni-node";
constexpr long kLeftOverAge = 3600;
constexpr mode_t kDirectoryMode = 0755;
constexpr int kTries = 3;

using Version = std::optional<FileVersion>;

// An entry, and the state that it must still have when it is changed: other programs know nothing
// of our lock.
struct Found {
  Version version;
  std::string state;
};

Result<Found> find_at(const Place& place, const std::string& name) {
  MNET_TRY(auto&& seen, place.directory.look(name));
  if (!seen) return Found{.version = {}, .state = std::string(sys::Directory::kNoEntry)};
  return Found{.version = FileVersion{.sha256 = std::move(seen->sha256),
                                      .link = std::move(seen->link),
                                      .mode = seen->mode,
                                      .user = seen->user,
                                      .group = seen->group},
               .state = std::move(seen->state)};
}

bool is_same(const Version& a, const Version& b) {
  return a.has_value() == b.has_value() &&
         (!a || (a->sha256 == b->sha256 && a->link == b->link && a->mode == b->mode));
}

// Keeps the bytes of what is replaced or removed, so that they can be put back.
Result<void> keep(LedgerFile::Turn& turn, const Place& place, const std::string& name,
                  const Version& version) {
  if (!version || version->sha256.empty()) return {};
  MNET_TRY(auto&& bytes, place.directory.find_blocks(name));
  if (!bytes) return Error(Errc::kConflict, cat(place.path_of(name), " was removed meanwhile"));
  return turn.keep(*bytes, version->sha256);
}

Result<void> restore(LedgerFile::Turn& turn, const Place& place, const std::string& name,
                     const Version& version, const std::string& over) {
  if (!version) {
    MNET_TRY([[maybe_unused]] const bool was_there, place.directory.remove(name, over));
    return {};
  }
  if (!version->link.empty()) {
    return place.directory.replace_with_link(name, version->link, kTemporary);
  }
  MNET_TRY(auto&& bytes, turn.kept(version->sha256));
  return place.directory.replace(name, bytes,
                                 {.mode = version->mode,
                                  .owner = std::pair(version->user, version->group),
                                  .sha256 = version->sha256,
                                  .over = over},
                                 kTemporary);
}

// Another program may change the file while we look at it; it will not do so for ever.
template <typename T>
Result<T> again_after_conflict(const std::function<Result<T>()>& once) {
  for (int tries = 1;; ++tries) {
    auto done = once();
    if (done || done.error().code() != Errc::kConflict || tries == kTries) return done;
  }
}

std::optional<OwnedFile> entry_of(const Ledger& ledger, const std::string& path) {
  const OwnedFile* found = ledger.find_file(path);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

void set_entry(Ledger& ledger, const std::string& path, std::optional<OwnedFile> entry) {
  ledger.forget_file(path);
  if (entry) ledger.files.push_back(*std::move(entry));
}

// The entry while a rollback puts `goal` in the place of `found`: whichever is there after a kill,
// it is known whose it is.
std::optional<OwnedFile> entry_between(const std::optional<OwnedFile>& owned, const Version& found,
                                       const std::optional<OwnedFile>& goal_owned,
                                       const Version& goal) {
  if (!goal || !goal_owned || !goal_owned->is_ours(goal->sha256)) return owned;
  OwnedFile out = *goal_owned;
  out.sha256 = goal->sha256;
  out.earlier = found && owned && owned->is_ours(found->sha256) ? found->sha256 : "";
  if (owned) out.kept = owned->kept;
  return out;
}

}  // namespace

std::string Place::path_of(const std::string& name) const {
  return cat(directory.path(), "/", name);
}

OwnedFiles::OwnedFiles(LedgerFile* ledger, Settings settings)
    : ledger_(ledger), settings_(std::move(settings)) {}

Result<Place> OwnedFiles::enter(const std::string& directory) const {
  MNET_TRY(auto&& opened, sys::Directory::open(directory, settings_.root));
  MNET_TRY(auto&& lock, opened.lock(settings_.patience, settings_.stops));
  return Place{.directory = std::move(opened), .lock = std::move(lock)};
}

Result<Place> OwnedFiles::make(const std::string& directory) const {
  MNET_TRY([[maybe_unused]] const auto& made,
           sys::Directory::make(directory, kDirectoryMode, settings_.root));
  MNET_TRY(auto&& place, enter(directory));
  place.directory.sweep(kTemporary, kLeftOverAge);
  return std::move(place);
}

std::optional<OwnedFile> OwnedFiles::find(const std::string& path) const {
  return ledger_ == nullptr ? std::nullopt : entry_of(ledger_->entries(), path);
}

// A file's first state in a run, and its last.
void OwnedFiles::note(Ledger& ledger, Change change) {
  if (std::exchange(is_new_run_, false)) ledger.last.clear();
  const auto known = std::ranges::find(ledger.last, change.path, &Change::path);
  if (known == ledger.last.end()) {
    ledger.last.push_back(std::move(change));
    return;
  }
  // What another program put there meanwhile is what there was: a rollback does not undo that.
  if (change.before && !is_same(change.before, known->after)) {
    known->before = std::move(change.before);
  }
  known->after = std::move(change.after);
}

// The ledger says what we are about to write before we do: a file that we wrote without its
// knowledge would be taken for another program's for ever.
Result<bool> OwnedFiles::put_once(const Place& place, const std::string& name, sys::Blocks& content,
                                  const Traits& traits) {
  const std::string path = place.path_of(name);
  MNET_TRY(auto&& sha256, content.sha256());
  MNET_TRY(const auto& found, find_at(place, name));
  const Version& before = found.version;
  MNET_TRY(auto&& turn, ledger_->begin());
  Ledger& ledger = turn.entries();
  const auto owned = entry_of(ledger, path);
  const bool was_ours = before && owned && owned->is_ours(before->sha256);
  MNET_TRY_VOID(keep(turn, place, name, before));

  OwnedFile now{.path = path, .sha256 = sha256, .version = traits.version};
  if (was_ours) now.earlier = before->sha256;
  // A missing file is not another program's version: the last one that we know of still counts.
  if (owned) now.kept = owned->kept;
  if (before && !was_ours) now.kept = before;
  note(ledger, {.path = path,
                .before = before,
                .after = FileVersion{.sha256 = sha256, .mode = traits.mode},
                .owned_before = owned});
  set_entry(ledger, path, now);
  MNET_TRY_VOID(turn.save());

  MNET_TRY_VOID(place.directory.replace(
      name, content, {.mode = traits.mode, .sha256 = sha256, .over = found.state}, kTemporary));
  now.earlier.clear();
  set_entry(ledger, path, std::move(now));
  MNET_TRY_VOID(turn.save());
  return true;
}

Result<bool> OwnedFiles::put(const Place& place, const std::string& name, sys::Blocks& content,
                             const Traits& traits) {
  if (place.directory.holds(name, content, traits.mode)) return false;
  if (ledger_ == nullptr) {
    MNET_TRY_VOID(place.directory.replace(name, content, {.mode = traits.mode}, kTemporary));
    return true;
  }
  return again_after_conflict<bool>([&] { return put_once(place, name, content, traits); });
}

Result<OwnedFiles::Removal> OwnedFiles::remove_once(const Place& place, const std::string& name) {
  const std::string path = place.path_of(name);
  MNET_TRY(const auto& found, find_at(place, name));
  const Version& before = found.version;
  MNET_TRY(auto&& turn, ledger_->begin());
  Ledger& ledger = turn.entries();
  const auto owned = entry_of(ledger, path);
  if (!owned) return before ? Removal::kForeign : Removal::kAbsent;
  const bool is_ours = before && owned->is_ours(before->sha256);
  if (is_ours) {
    MNET_TRY_VOID(keep(turn, place, name, before));
    note(ledger, {.path = path, .before = before, .after = owned->kept, .owned_before = owned});
    MNET_TRY_VOID(turn.save());
    MNET_TRY_VOID(restore(turn, place, name, owned->kept, found.state));
  }
  ledger.forget_file(path);
  MNET_TRY_VOID(turn.save());
  if (!before) return Removal::kAbsent;
  if (!is_ours) return Removal::kChanged;
  return owned->kept ? Removal::kPutBack : Removal::kRemoved;
}

Result<OwnedFiles::Removal> OwnedFiles::remove(const Place& place, const std::string& name) {
  if (ledger_ != nullptr) {
    return again_after_conflict<Removal>([&] { return remove_once(place, name); });
  }
  MNET_TRY(const bool was_there, place.directory.remove(name));
  return was_there ? Removal::kRemoved : Removal::kAbsent;
}

Result<std::vector<OwnedFiles::Undone>> OwnedFiles::rollback(
    const std::vector<std::string>& directories) {
  if (ledger_ == nullptr || ledger_->entries().last.empty()) {
    return Error(Errc::kNotFound, "no earlier run is recorded");
  }
  is_new_run_ = false;
  std::vector<Undone> out;
  const std::vector<Change> changes = ledger_->entries().last;
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    const std::string directory = sys::directory_of(change->path);
    // Another run may have had other directories.
    const bool is_within = std::ranges::find(directories, directory) != directories.end();
    if (change->is_undone || !is_within) continue;
    if (settings_.stops && settings_.stops()) {
      return Error(Errc::kCancelled,
                   "interrupted by a stop signal; the next rollback does the rest");
    }
    MNET_TRY(auto&& place, make(directory));
    MNET_TRY(const auto how, undo(place, change->path.substr(directory.size() + 1), change->path));
    out.push_back({.path = change->path, .how = how});
  }
  MNET_TRY_VOID(ledger_->update([](Ledger& ledger) {
    std::ranges::reverse(ledger.last);
    for (Change& change : ledger.last) change.is_undone = false;
  }));
  return out;
}

Result<OwnedFiles::Undoing> OwnedFiles::undo(const Place& place, const std::string& name,
                                             const std::string& path) {
  MNET_TRY(auto&& seen, find_at(place, name));
  const Version& found = seen.version;
  MNET_TRY(auto&& turn, ledger_->begin());
  Ledger& ledger = turn.entries();
  const auto change = std::ranges::find(ledger.last, path, &Change::path);
  if (change == ledger.last.end()) return Undoing::kChanged;
  auto how = Undoing::kWasSo;
  if (!is_same(found, change->before)) {
    how = is_same(found, change->after) ? Undoing::kUndone : Undoing::kChanged;
  }
  if (how == Undoing::kUndone) {
    MNET_TRY_VOID(keep(turn, place, name, found));
    const auto owned = entry_of(ledger, path);
    const Version goal = change->before;
    Change inverse{
        .path = path, .before = found, .after = goal, .owned_before = owned, .is_undone = true};
    set_entry(ledger, path, entry_between(owned, found, change->owned_before, goal));
    MNET_TRY_VOID(turn.save());
    MNET_TRY_VOID(restore(turn, place, name, goal, seen.state));
    set_entry(ledger, path, change->owned_before);
    *change = std::move(inverse);
  } else {
    // A rollback that was killed may have restored the file already.
    if (how == Undoing::kWasSo) set_entry(ledger, path, change->owned_before);
    change->is_undone = true;
  }
  MNET_TRY_VOID(turn.save());
  return how;
}

Result<void> OwnedFiles::adopt(const std::vector<Listed>& lists) {
  if (ledger_ == nullptr || ledger_->entries().has_files) return {};
  std::vector<OwnedFile> found;
  for (const Listed& list : lists) {
    auto place = enter(list.directory);
    if (!place && place.error().code() == Errc::kNotFound) continue;
    if (!place) return std::move(place).error();
    for (const std::string& name : list.names) {
      MNET_TRY(const auto& seen, find_at(*place, name));
      if (!seen.version || seen.version->sha256.empty()) continue;
      found.push_back({.path = place->path_of(name), .sha256 = seen.version->sha256});
    }
  }
  return ledger_->update([&](Ledger& ledger) {
    if (ledger.has_files) return;  // another process was faster
    ledger.has_files = true;
    ledger.files = found;
  });
}

}  // namespace mnet::ledger
