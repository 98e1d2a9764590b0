// The ledger on disk, which several processes share, and beside it the bytes of files that may have
// to come back.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "ledger/ledger.h"
#include "sys/copy_file.h"
#include "sys/file_lock.h"

namespace mnet::ledger {

class LedgerFile {
 public:
  struct Settings {
    std::chrono::milliseconds patience{30'000};  // with another process that has its turn
    sys::FileLock::Stops stops = {};             // ends such a wait
    std::function<void(const std::string&)> warn = [](const std::string&) {};
  };
  // A ledger that does not exist is empty; a damaged one is renamed to `<path>.corrupt` with a
  // warning, and is empty. An error: it is unreadable, or of another version. Its directory must
  // exist.
  static Result<std::unique_ptr<LedgerFile>> load(std::string path, Settings settings);
  LedgerFile(const LedgerFile&) = delete;
  LedgerFile& operator=(const LedgerFile&) = delete;

  const std::string& path() const { return path_; }
  // As they were when this process last had its turn.
  const Ledger& entries() const { return ledger_; }

  // The right to change the ledger until this is destroyed; no other process has it meanwhile.
  // Changes that are not saved are dropped.
  class Turn {
   public:
    Ledger& entries() { return draft_; }
    // Writes if something differs.
    Result<void> save();
    // Keeps the bytes, whose SHA-256 this is, readable as long as a saved entry names
    // them.
    Result<void> keep(sys::Blocks& bytes, const std::string& sha256);
    Result<sys::Blocks> kept(const std::string& sha256) const;

   private:
    friend LedgerFile;
    Turn(LedgerFile& file, sys::FileLock lock)
        : file_(&file), lock_(std::move(lock)), draft_(file.ledger_) {}
    void sweep() const;

    LedgerFile* file_;
    sys::FileLock lock_;
    Ledger draft_;
  };
  // Reads what others have written since, first. The file must outlive the turn.
  Result<Turn> begin();

  // One change, in a turn of its own.
  Result<void> update(const std::function<void(Ledger&)>& change);

 private:
  LedgerFile(std::string path, Settings settings)
      : path_(std::move(path)), settings_(std::move(settings)) {}
  Result<void> read();
  std::string kept_folder() const;

  const std::string path_;
  const Settings settings_;
  Ledger ledger_;
};

}  // namespace mnet::ledger
