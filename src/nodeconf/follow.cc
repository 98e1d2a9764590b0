// The configuration manager once it has written its file: the primary's changes, and what others do
// to the file (03, 6.6).
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "nodeconf/manager.h"
#include "nodeconf/own_file.h"
#include "nodeconf/primary.h"

namespace mnet::nodeconf {
namespace {

using Clock = std::chrono::steady_clock;

std::string fate_text(const std::string& path, const OwnFile::Look& look) {
  switch (look.fate) {
    case OwnFile::Fate::kRenamed:
      return cat("another program renamed ", path, " to ", look.other_name);
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

aio::Task<void> Manager::follow() {
  log_.verbatim(LogLevel::kVerbose, cat("started to watch file ", primary_));
  auto waited = co_await changes_.wait(Clock::now());
  while (waited) {
    // The file first: a new text must not stand for putting it back.
    auto own = co_await look_at_own_file();
    if (!own) log_.error("keeping the CNI configuration", own.error());
    auto primary = co_await look_at_primary();
    if (!primary) log_.error("following the primary CNI configuration", primary.error());
    auto written = co_await write();
    if (!written) log_.error("writing the CNI configuration", written.error());
    auto others = co_await look_for_earlier();
    if (!others) log_.debug(others.error().text());
    waited = co_await changes_.wait(next_look());
  }
  co_return waited;
}

aio::Task<void> Manager::look_at_primary() {
  using Mark = std::optional<FileMark>;
  MNET_CO_TRY(const auto& mark,
              co_await pool_.run([path = primary_]() -> Result<Mark> { return mark_of(path); }));
  if (!mark) {
    if (!is_gone_) {
      log_.error(cat("the primary CNI configuration ", primary_, " is gone; ", own_.path(),
                     " stays, and ADDs fail until it is back"));
    }
    is_gone_ = true;
    mark_.reset();
    co_return Result<void>();
  }
  if (std::exchange(is_gone_, false)) {
    log_.verbose(cat("the primary CNI configuration ", primary_, " is back"));
  }
  if (mark == mark_ && refusal_.empty()) co_return Result<void>();
  co_return co_await regenerate();
}

aio::Task<void> Manager::regenerate() {
  const auto loaded = co_await pool_.run([this]() -> Result<Loaded> {
    MNET_TRY_VOID(force(primary_));
    return load(primary_);
  });
  if (!loaded) {
    // It may be half written just now: the last good text stays, and it is read again soon.
    if (refusal_ != loaded.error().text()) {
      log_.error(cat(own_.path(), " stays as it is; change ", primary_), loaded.error());
    }
    note_refusal(loaded.error().text());
    co_return Result<void>();
  }
  mark_ = loaded->mark;
  refusal_.clear();
  MNET_CO_TRY(auto&& output, generator_.output(primary_, loaded->primary));
  for (const std::string& text : output.warnings) warn(text);
  if (output.text == text_) co_return Result<void>();
  text_ = std::move(output.text);
  log_.verbatim(LogLevel::kVerbose, cat("Generated MultusCNI config: ", text_));
  co_return Result<void>();
}

aio::Task<void> Manager::write() {
  if (text_ == written_ || is_lost_ || Clock::now() < next_try_) co_return Result<void>();
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
void Manager::note_failed_write() {
  hooks_.wrote(false);
  next_try_ = Clock::now() + options_.pace.retry;
}

aio::Task<void> Manager::look_at_own_file() {
  MNET_CO_TRY(const auto& look,
              co_await pool_.run([this]() -> Result<OwnFile::Look> { return own_.look(); }));
  const auto now = Clock::now();
  const bool is_recent = put_back_at_ && now - *put_back_at_ < options_.pace.peace;
  if (look.fate != OwnFile::Fate::kThere) {
    const std::string what = fate_text(own_.path(), look);
    if (is_recent) {
      if (!is_lost_) fight(what, look.other_name);
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

aio::Task<void> Manager::put_back(std::string what) {
  if (Clock::now() < next_try_) co_return Result<void>();
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
  log_.warning(cat(what, "; putting it back once"));
  put_back_at_ = Clock::now();
  co_return Result<void>();
}

void Manager::fight(const std::string& what, const std::string& other_name) {
  is_lost_ = true;
  const std::string text = cat(what, ", again after it was put back: ", likely_cause(other_name),
                               ". Until then new pods get only the primary network");
  log_.error(text);
  hooks_.fought();
  hooks_.hinder(text);
}

// Choosing anew would flip the cluster network beneath running pods.
aio::Task<void> Manager::look_for_earlier() {
  if (!options_.master.empty()) co_return Result<void>();
  MNET_CO_TRY(const auto& found, co_await pool_.run([directory = options_.autoconfig_dir] {
    return list_candidates(directory);
  }));
  const std::string ours = std::filesystem::path(primary_).filename().string();
  if (found.empty() || found.front() >= ours) co_return Result<void>();
  warn(cat(options_.autoconfig_dir, "/", found.front(), " sorts before the primary ", ours,
           ", which stays in use until the daemon restarts; set multusMasterCNI to choose one "
           "permanently"));
  co_return Result<void>();
}

}  // namespace mnet::nodeconf
