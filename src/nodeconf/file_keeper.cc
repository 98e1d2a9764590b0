#include "nodeconf/file_keeper.h"

#include <chrono>
#include <string>
#include <utility>

#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "nodeconf/own_file.h"

namespace mnet::nodeconf {
namespace {

using Clock = std::chrono::steady_clock;

std::string fate_text(const std::string& path, const OwnFile::State& state) {
  switch (state.fate) {
    case OwnFile::Fate::kRenamed:
      return cat("another program renamed ", path, " to ", state.other_name);
    case OwnFile::Fate::kRemoved:
      return cat("another program removed ", path);
    case OwnFile::Fate::kBroken:
      return cat("another program made ", path, " unreadable");
    case OwnFile::Fate::kThere:
      break;
  }
  return path;
}

// Pain 11: the one program that is known to do it, and how it leaves the file.
std::string likely_cause(const std::string& other_name) {
  if (other_name.find("cilium") != std::string::npos) {
    return "Cilium does that with cni.exclusive: set cni.exclusive to false (cni-exclusive in its "
           "ConfigMap)";
  }
  return "another program on this node claims the CNI configuration for itself; with Cilium set "
         "cni.exclusive to false";
}

}  // namespace

FileKeeper::FileKeeper(aio::BlockingPool& pool, std::string path, Times times, ManagerHooks hooks,
                       Log log)
    : pool_(pool),
      times_(times),
      hooks_(std::move(hooks)),
      log_(std::move(log)),
      own_(std::move(path)) {}

aio::Task<void> FileKeeper::publish(std::string text) {
  text_ = std::move(text);
  // Even if it is equal: the file is ours from now on, and a predecessor that removes its own
  // leaves it alone.
  auto written = co_await pool_.run([this] { return own_.write(text_); });
  if (written) {
    hooks_.wrote(true);
    written_ = text_;
    co_return Result<void>();
  }
  note_failed_write();
  const auto state =
      co_await pool_.run([this]() -> Result<OwnFile::State> { return own_.state(); });
  const bool is_usable = state && state->fate == OwnFile::Fate::kThere;
  if (written.error().code() == Errc::kInvalid || !is_usable) co_return std::move(written);
  log_.error(cat("cannot write ", own_.path(),
                 "; the one that an earlier run wrote stays in use until it can be written"),
             written.error());
  co_return Result<void>();
}

aio::Task<void> FileKeeper::write(std::string text) {
  text_ = std::move(text);
  if (text_ == written_ || is_lost_ || Clock::now() < next_try_) co_return Result<void>();
  if (!hooks_.is_owner()) co_return Result<void>();
  const auto written = co_await pool_.run([this] { return own_.update(text_); });
  if (!written) {
    note_failed_write();
    co_return written.error();
  }
  written_ = text_;
  if (*written) hooks_.wrote(true);
  co_return Result<void>();
}

// What a failed write did in the directory is a change there, and must not bring on the next try.
void FileKeeper::note_failed_write() {
  hooks_.wrote(false);
  next_try_ = Clock::now() + times_.retry;
}

aio::Task<void> FileKeeper::look() {
  MNET_CO_TRY(const auto& state,
              co_await pool_.run([this]() -> Result<OwnFile::State> { return own_.state(); }));
  const auto now = Clock::now();
  const bool is_recent = put_back_at_ && now - *put_back_at_ < times_.peace;
  if (state.fate != OwnFile::Fate::kThere) {
    const std::string what = fate_text(own_.path(), state);
    if (is_recent) {
      if (!is_lost_) fight(what, state.other_name);
      co_return Result<void>();
    }
    co_return co_await put_back(what);
  }
  if (!is_lost_) co_return Result<void>();
  is_lost_ = false;
  written_.clear();  // it may be an old one
  log_.verbose(cat(own_.path(), " is back"));
  hooks_.unhinder();
  co_return Result<void>();
}

aio::Task<void> FileKeeper::put_back(std::string what) {
  if (Clock::now() < next_try_ || !hooks_.is_owner()) co_return Result<void>();
  const auto written = co_await pool_.run([this] { return own_.write(text_); });
  if (!written) {
    note_failed_write();
    const std::string text = cat(what, "; it cannot be put back: ", written.error().text());
    if (!std::exchange(is_lost_, true)) log_.error(text);
    hooks_.hinder(text);
    co_return Result<void>();
  }
  hooks_.wrote(true);
  written_ = text_;
  log_.warning(cat(what, "; it was put back"));
  put_back_at_ = Clock::now();
  co_return Result<void>();
}

void FileKeeper::fight(const std::string& what, const std::string& other_name) {
  is_lost_ = true;
  const std::string text = cat(what, ", again after it was put back: ", likely_cause(other_name),
                               ". Until then new pods get only the primary network");
  log_.error(text);
  hooks_.fought();
  hooks_.hinder(text);
}

}  // namespace mnet::nodeconf
