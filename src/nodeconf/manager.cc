#include "nodeconf/manager.h"

#include <chrono>
#include <filesystem>
#include <optional>
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
#include "nodeconf/file_keeper.h"
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
      changes_(watched(options_), options_.pace.settle,
               [log = log_](const Error& why) {
                 log.error("cannot watch the CNI configuration, which is polled instead", why);
               }),
      generator_(options_.settings),
      file_(pool_, clean_path(cat(options_.cni_config_dir, "/", kOwnFile)),
            {.retry = options_.pace.retry, .peace = options_.pace.peace}, hooks_, log_) {}

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
    text += cat("; correct ", path);
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
  return file_.publish(text_);
}

aio::Task<void> Manager::follow() {
  log_.verbatim(LogLevel::kVerbose, cat("started to watch file ", primary_));
  auto waited = co_await changes_.wait(Clock::now());
  while (waited) {
    // The file first: a new text must not stand for putting it back.
    auto own = co_await file_.look();
    if (!own) log_.error("cannot keep the CNI configuration", own.error());
    auto primary = co_await look_at_primary();
    if (!primary) log_.error("cannot follow the primary CNI configuration", primary.error());
    auto written = co_await file_.write(text_);
    if (!written) log_.error("cannot write the CNI configuration", written.error());
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
      log_.error(cat("the primary CNI configuration ", primary_, " is gone; ", file_.path(),
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
      log_.error(cat(file_.path(), " stays unchanged until ", primary_, " is corrected"),
                 loaded.error());
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
