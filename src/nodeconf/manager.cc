#include "nodeconf/manager.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "nodeconf/generate.h"
#include "nodeconf/own_file.h"
#include "nodeconf/primary.h"
#include "sys/file.h"

namespace mnet::nodeconf {
namespace {

using Clock = std::chrono::steady_clock;

Result<void> check_directory(const std::string& directory) {
  std::error_code failed;
  if (std::filesystem::is_directory(directory, failed)) return {};
  return Error(Errc::kNotFound, cat("cannot watch the directory ", directory, ": ",
                                    failed ? errno_text(failed.value()) : "not a directory"));
}

std::vector<std::string> watched(const ManagerOptions& options) {
  std::vector<std::string> directories = {options.autoconfig_dir, options.cni_config_dir};
  if (!options.indicator.empty()) directories.push_back(sys::directory_of(options.indicator));
  return directories;
}

}  // namespace

Manager::Manager(aio::BlockingPool& pool, ManagerOptions options, ManagerHooks hooks, Log log)
    : pool_(pool),
      options_(std::move(options)),
      hooks_(std::move(hooks)),
      log_(std::move(log)),
      changes_(watched(options_), options_.pace.settle, log_),
      generator_(options_.settings),
      own_(clean_path(cat(options_.cni_config_dir, "/", kOwnFile))) {}

Result<void> Manager::check() const {
  MNET_TRY_VOID(check_top_version(options_.settings.cni_version));
  MNET_TRY_VOID(check_master_name(options_.autoconfig_dir, options_.master));
  MNET_TRY_VOID(check_directory(options_.autoconfig_dir));
  if (options_.indicator.empty()) return {};
  return check_directory(sys::directory_of(options_.indicator));
}

Result<void> Manager::force(const std::string& path) const {
  if (!options_.forces_version) return {};
  const std::string& version = options_.settings.cni_version;
  MNET_TRY(const auto& forced, force_version(path, version));
  if (forced) log_.warning(cat("forceCNIVersion: set the cniVersion of ", path, " to ", version));
  return {};
}

Result<Manager::Loaded> Manager::load(const std::string& path) const {
  // Looked at first: what changes while it is read is another mark afterwards.
  const auto mark = mark_of(path);
  MNET_TRY(auto&& primary,
           load_primary(path, options_.settings.cni_version, options_.settings.type));
  return Loaded{.mark = mark.value_or(FileMark()), .primary = std::move(primary)};
}

aio::Task<void> Manager::find() {
  for (bool is_start = true;; is_start = false) {
    // Watches from here on, so that nothing is missed between a look and the wait after it.
    MNET_CO_TRY_VOID(co_await changes_.wait(Clock::now()));
    MNET_CO_TRY(auto&& found, co_await try_primary(is_start));
    if (found) co_return Result<void>();
    MNET_CO_TRY_VOID(co_await changes_.wait(next_look()));
  }
}

aio::Task<bool> Manager::try_primary(bool is_start) {
  const auto choice = co_await pool_.run(
      [this] { return choose_primary(options_.autoconfig_dir, options_.master); });
  if (!choice) {
    wait_for(choice.error(), "");
    co_return false;
  }
  auto forced = co_await pool_.run([this, path = choice->path] { return force(path); });
  const bool is_unforceable = !forced && forced.error().code() == Errc::kInvalid;
  if (is_unforceable && is_start) co_return std::move(forced).error();
  if (!forced) {
    wait_for(forced.error(), choice->path);
    co_return false;
  }
  auto loaded = co_await pool_.run([this, path = choice->path] { return load(path); });
  if (!loaded) {
    wait_for(loaded.error(), choice->path);
    co_return false;
  }
  auto output = generator_.output(choice->path, loaded->primary);
  if (!output && is_start) co_return std::move(output).error();
  if (!output) {
    wait_for(output.error(), choice->path);
    co_return false;
  }
  take(*choice, *loaded, *std::move(output));
  co_return true;
}

void Manager::take(const PrimaryChoice& choice, const Loaded& loaded, Generator::Output output) {
  primary_ = choice.path;
  mark_ = loaded.mark;
  text_ = std::move(output.text);
  refusal_.clear();
  log_.verbose(cat("the primary CNI configuration is ", primary_, " (", choice.why, ")"));
  for (const std::string& text : choice.warnings) warn(text);
  for (const std::string& text : output.warnings) warn(text);
  hooks_.unhinder();
}

void Manager::wait_for(const Error& why, const std::string& path) {
  std::string text = cat("waiting for the primary CNI configuration: ", why.text());
  // What is there and wrong does not come by itself; nor does what a link in the list leads to.
  const bool may_come = why.code() == Errc::kNotFound && !options_.master.empty();
  if (!path.empty() && !may_come) {
    text += cat("; change ", path);
    if (options_.master.empty()) text += ", or name another file with multusMasterCNI";
  }
  const auto now = Clock::now();
  if (text != refusal_ || now - last_line_ >= options_.pace.line) {
    log_.error(text);
    last_line_ = now;
  }
  hooks_.hinder(text);
  note_refusal(text);
}

void Manager::note_refusal(const std::string& why) {
  if (refusal_.empty()) refused_since_ = Clock::now();
  refusal_ = why;
}

void Manager::warn(const std::string& text) {
  if (warned_.insert(text).second) log_.warning(text);
}

aio::Deadline Manager::next_look() const {
  const auto now = Clock::now();
  const Pace& pace = options_.pace;
  const bool often = !refusal_.empty() && now - refused_since_ < pace.retry_often;
  return now + (often ? pace.retry : pace.poll);
}

aio::Task<void> Manager::publish() {
  log_.verbatim(LogLevel::kVerbose, cat("Generated MultusCNI config: ", text_));
  // Even if it is equal: the file is ours from now on, and a predecessor that removes its own
  // leaves it alone.
  auto written = co_await pool_.run([this] { return own_.write(text_); });
  hooks_.wrote(written.has_value());
  if (written) written_ = text_;
  co_return std::move(written);
}

}  // namespace mnet::nodeconf
