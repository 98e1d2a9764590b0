// Files that are put into directories of the node and taken away again: only those that we wrote
// go, and what was there before comes back (04, 1.12 and 3.4).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ledger/ledger.h"
#include "ledger/ledger_file.h"
#include "sys/copy_file.h"
#include "sys/directory.h"
#include "sys/file_lock.h"

namespace mnet::ledger {

// A directory of the node while no other process of ours changes it.
struct Place {
  sys::Directory directory;
  sys::FileLock lock;

  std::string path_of(const std::string& name) const;
};

class OwnedFiles {
 public:
  struct Settings {
    std::string root = {};                       // of the node, as sys::Directory::open takes it
    std::chrono::milliseconds patience{30'000};  // with another process that has the directory
    sys::FileLock::Stops stops = {};
  };
  // Without a ledger any file of the name counts as ours (04, 1.8). The ledger must outlive this.
  OwnedFiles(LedgerFile* ledger, Settings settings);

  // make() creates the directory; enter() is kNotFound without it.
  Result<Place> enter(const std::string& directory) const;
  Result<Place> make(const std::string& directory) const;

  // Whether it changed anything. A file of another program is kept to be put back.
  struct Traits {
    mode_t mode;
    std::string version = {};  // of the content, where it is known
  };
  Result<bool> put(const Place& place, const std::string& name, sys::Blocks& content,
                   const Traits& traits);

  enum class Removal : std::uint8_t {
    kAbsent,
    kRemoved,
    kPutBack,  // what was there before us is there again
    kForeign,  // we did not put it there: it stays
    kChanged,  // another program changed it since: it stays, and is no longer ours
  };
  Result<Removal> remove(const Place& place, const std::string& name);

  // Changes from here on belong to another run: rollback() undoes those of the last run.
  void begin_run() { is_new_run_ = true; }

  enum class Undoing : std::uint8_t { kUndone, kWasSo, kChanged };
  struct Undone {
    std::string path;
    Undoing how;
  };
  // Undoes what the last run did in these directories, newest first; kNotFound if there is nothing.
  // A second call does it again.
  Result<std::vector<Undone>> rollback(const std::vector<std::string>& directories);

  // For a ledger of a version that did not record files: these are the ones it put there. No other
  // file is touched.
  struct Listed {
    std::string directory;
    std::vector<std::string> names;
  };
  Result<void> adopt(const std::vector<Listed>& lists);

  bool has_ledger() const { return ledger_ != nullptr; }
  // What the ledger says of a file.
  std::optional<OwnedFile> find(const std::string& path) const;

 private:
  void note(Ledger& ledger, Change change);
  Result<bool> put_once(const Place& place, const std::string& name, sys::Blocks& content,
                        const Traits& traits);
  Result<Removal> remove_once(const Place& place, const std::string& name);
  Result<Undoing> undo(const Place& place, const std::string& name, const std::string& path);

  LedgerFile* const ledger_;
  const Settings settings_;
  bool is_new_run_ = true;
};

}  // namespace mnet::ledger
