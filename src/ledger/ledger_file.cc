#include "ledger/ledger_file.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "ledger/ledger.h"
#include "sys/copy_file.h"
#include "sys/directory.h"
#include "sys/file.h"
#include "sys/file_lock.h"

namespace mnet::ledger {
namespace {

constexpr std::size_t kMaxLedger = 16u << 20;
constexpr std::string_view kTemporary = ".cni-node";
constexpr long kLeftOverAge = 3600;

std::set<std::string> named_in(const Ledger& ledger) {
  std::set<std::string> out;
  const auto add = [&out](const std::optional<FileVersion>& version) {
    if (version) out.insert(version->sha256);
  };
  for (const OwnedFile& file : ledger.files) add(file.kept);
  for (const Change& change : ledger.last) {
    add(change.before);
    add(change.after);
    if (change.owned_before) add(change.owned_before->kept);
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<LedgerFile>> LedgerFile::load(std::string path, Settings settings) {
  std::unique_ptr<LedgerFile> out(new LedgerFile(std::move(path), std::move(settings)));
  MNET_TRY(const auto& text, sys::find_file(out->path_, kMaxLedger));
  if (!text) return out;
  if (auto ledger = parse_ledger(*text)) {
    out->ledger_ = *std::move(ledger);
    return out;
  }
  // A process may set it aside only in its turn: another one may have written it anew.
  MNET_TRY([[maybe_unused]] const auto& turn, out->begin());
  return out;
}

std::string LedgerFile::kept_folder() const { return cat(path_, ".kept"); }

Result<void> LedgerFile::read() {
  MNET_TRY(auto&& text, sys::find_file(path_, kMaxLedger));
  auto ledger = text ? parse_ledger(*text) : Result<Ledger>(Ledger());
  if (!ledger && ledger.error().code() == Errc::kProtocol) {
    return std::move(ledger).error().wrap(path_);
  }
  if (!ledger) {
    const std::string aside = cat(path_, ".corrupt");
    settings_.warn(cat("warning: damaged (", ledger.error().text(), "), set aside as ", aside,
                       "; what was installed before is unknown and stays"));
    if (std::rename(path_.c_str(), aside.c_str()) != 0) {
      return Error::from_errno(errno, cat("rename ", path_));
    }
    ledger = Ledger();
  }
  ledger_ = *std::move(ledger);
  return {};
}

Result<LedgerFile::Turn> LedgerFile::begin() {
  MNET_TRY(auto&& lock, sys::FileLock::take_file_within(cat(path_, ".busy"), settings_.patience,
                                                        settings_.stops));
  MNET_TRY_VOID(read());
  return Turn(*this, std::move(lock));
}

Result<void> LedgerFile::update(const std::function<void(Ledger&)>& change) {
  MNET_TRY(auto&& turn, begin());
  change(turn.entries());
  return turn.save();
}

Result<void> LedgerFile::Turn::save() {
  if (draft_ == file_->ledger_) return {};
  MNET_TRY_VOID(sys::replace_file(file_->path_, dump_ledger(draft_), 0600));
  file_->ledger_ = draft_;
  sweep();
  return {};
}

Result<void> LedgerFile::Turn::keep(sys::Blocks& bytes, const std::string& sha256) {
  MNET_TRY(auto&& folder, sys::Directory::make(file_->kept_folder(), 0700));
  // A file's name says what is in it, and no file is visible before it is complete.
  if (sys::exists(cat(folder.path(), "/", sha256))) return {};
  return folder.replace(sha256, bytes, {.mode = 0600, .sha256 = sha256}, kTemporary);
}

Result<sys::Blocks> LedgerFile::Turn::kept(const std::string& sha256) const {
  const std::string path = cat(file_->kept_folder(), "/", sha256);
  return sys::Blocks::open(AT_FDCWD, path, O_NOFOLLOW, path);
}

// Removes bytes that no entry names any more. What cannot be removed now is removed after a later
// change.
void LedgerFile::Turn::sweep() const {
  const auto folder = sys::Directory::open(file_->kept_folder());
  const auto entries = folder ? sys::list_directory(folder->path()) : folder.error();
  if (!folder || !entries) return;
  folder->sweep(kTemporary, kLeftOverAge);
  const std::set<std::string> named = named_in(draft_);
  for (const sys::Entry& entry : *entries) {
    if (!entry.name.starts_with('.') && !named.contains(entry.name)) {
      (void)folder->remove(entry.name);
    }
  }
}

}  // namespace mnet::ledger
