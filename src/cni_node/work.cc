#include "cni_node/work.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/event.h"
#include "aio/readable.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni_node/command.h"
#include "cni_node/files.h"
#include "cni_node/mounts.h"
#include "cni_node/names.h"
#include "ledger/ledger.h"
#include "ledger/ledger_file.h"
#include "nodetools/health.h"
#include "nodetools/output.h"
#include "sys/file.h"
#include "sys/signals.h"

namespace mnet::cni_node {
namespace {

using Action = Command::Action;

// For the item that runs when a signal comes.
constexpr std::chrono::seconds kItemGrace{1};

Names reversed(Names names) {
  std::ranges::reverse(names);
  return names;
}

Names desired(const std::optional<Lists>& lists) { return lists ? lists->desired : Names(); }

bool is_work(Action action) {
  return action == Action::kInstall || action == Action::kUninstall || action == Action::kApply;
}

std::vector<Step> without_empty(std::vector<Step> steps) {
  std::erase_if(steps, [](const Step& step) { return step.names.empty(); });
  return steps;
}

std::vector<Step> installing(Names plugins, Names configs, Names manifests) {
  return without_empty({{ItemKind::kPlugin, true, std::move(plugins)},
                        {ItemKind::kConfig, true, std::move(configs)},
                        {ItemKind::kManifest, true, std::move(manifests)}});
}

// The configuration makes the runtime call the rest, so it goes first. The API is asked last: it
// may be silent, and files need none.
std::vector<Step> removing(Names plugins, Names configs, Names manifests) {
  return without_empty({{ItemKind::kConfig, false, reversed(std::move(configs))},
                        {ItemKind::kPlugin, false, reversed(std::move(plugins))},
                        {ItemKind::kManifest, false, reversed(std::move(manifests))}});
}

}  // namespace

std::vector<std::vector<Step>> steps_of(const Command& command) {
  if (command.action == Action::kInstall) {
    return {
        installing(desired(command.plugins), desired(command.configs), desired(command.manifests))};
  }
  if (command.action == Action::kUninstall) {
    return {
        removing(desired(command.plugins), desired(command.configs), desired(command.manifests))};
  }
  const Difference plugins = difference(command.plugins.value_or(Lists()));
  const Difference configs = difference(command.configs.value_or(Lists()));
  const Difference manifests = difference(command.manifests.value_or(Lists()));
  return {installing(plugins.added, configs.added, manifests.added),
          removing(plugins.removed, configs.removed, manifests.removed)};
}

Result<std::unique_ptr<ledger::LedgerFile>> open_ledger(const Command& command,
                                                        nodetools::Output& output,
                                                        ledger::LedgerFile::Settings settings) {
  const bool makes_it = is_work(command.action) && !command.is_dry;
  const std::string& state = command.directories.state;
  const std::string folder = sys::directory_of(state);
  if (!sys::is_directory(folder)) {
    const bool is_wanted = !command.directories.is_usual_state || is_below_a_mount(folder);
    if (!makes_it || !is_wanted) return std::unique_ptr<ledger::LedgerFile>();
    MNET_TRY_VOID(sys::make_directories(folder, 0755));
  }
  settings.warn = [&output, state](const std::string& text) { output.complain(state, text); };
  return ledger::LedgerFile::load(state, std::move(settings));
}

Work::Work(const Command& command, nodetools::Output& output, sys::Signals& signals,
           const aio::asio::any_io_executor& executor, nodetools::Health& health)
    : command_(command),
      output_(output),
      signal_(signals),
      health_(health),
      deadline_(command.timeout ? std::chrono::steady_clock::now() + *command.timeout
                                : aio::kNoDeadline),
      manifests_(command, output),
      working_(executor, Log()),
      listening_(executor, Log()) {}

bool Work::is_late() const { return std::chrono::steady_clock::now() >= deadline_; }

bool Work::is_told_to_stop() {
  if (signal_.has_come()) stop_.set();
  return stop_.is_set() || is_late();
}

aio::Task<bool> Work::do_item(ItemKind kind, bool installs, std::string name) {
  if (kind == ItemKind::kPlugin) {
    co_return installs ? files_->install_plugin(name, pin_of(command_.plugins->pins, name))
                       : files_->remove_plugin(name);
  }
  if (kind == ItemKind::kConfig) {
    co_return installs ? files_->install_config(name) : files_->remove_config(name);
  }
  if (installs) {
    co_return co_await manifests_.install(std::move(name));
  }
  co_return co_await manifests_.remove(std::move(name));
}

aio::Task<void> Work::work_off(Step step) {
  const int failed_before = counts_.failed;
  for (const std::string& name : step.names) {
    if (is_told_to_stop()) {
      is_cut_short_ = true;
      co_return Result<void>();
    }
    auto done = co_await do_item(step.kind, step.installs, name);
    if (done) {
      ++(*done ? counts_.changed : counts_.unchanged);
      continue;
    }
    if (done.error().code() == Errc::kCancelled) {
      is_cut_short_ = true;
      co_return Result<void>();
    }
    output_.complain(name, done.error().text());
    ++counts_.failed;
    if (step.installs) co_return Result<void>();
  }
  if (counts_.failed == failed_before) output_.print("Done.");
  co_return Result<void>();
}

aio::Task<void> Work::work_off_all() {
  for (std::vector<Step>& phase : steps_of(command_)) {
    for (Step& step : phase) {
      const bool installs = step.installs;
      MNET_CO_TRY_VOID(co_await work_off(std::move(step)));
      if (is_cut_short_ || (installs && counts_.failed > 0)) break;
    }
    if (is_cut_short_ || counts_.failed > 0) break;
  }
  co_return Result<void>();
}

// Requests that the API server does not answer, and waits for it, end with the signal.
aio::Task<void> Work::listen() {
  aio::Readable readable(co_await aio::asio::this_coro::executor, signal_.fd());
  while (!signal_.has_come()) {
    MNET_CO_TRY_VOID(co_await readable.wait());
  }
  stop_.set();
  MNET_CO_TRY_VOID(co_await aio::sleep_for(kItemGrace));
  working_.cancel();
  co_return Result<void>();
}

aio::Task<int> Work::run() {
  const ledger::LedgerFile::Settings waiting{.stops = [this] { return is_told_to_stop(); }};
  MNET_CO_TRY(auto&& ledger, open_ledger(command_, output_, waiting));
  ledger_ = std::move(ledger);
  files_.emplace(command_.directories,
                 FileSettings{.validates = command_.validates,
                              .is_quiet = command_.is_quiet,
                              .is_dry = command_.is_dry,
                              .downgrades = command_.downgrades,
                              .stops = waiting.stops},
                 output_, ledger_.get());
  if (ledger_ && !command_.is_dry) {
    MNET_CO_TRY_VOID(files_->adopt(ledger::Ledger(ledger_->entries())));
  }
  listening_.spawn("signals", listen());
  working_.spawn("work", work_off_all());
  (void)co_await working_.join(deadline_);
  working_.cancel();
  (void)co_await working_.join();
  sum_up();
  int code = counts_.failed > 0 || is_cut_short_ ? 1 : 0;
  if (is_cut_short_ && signal_.has_come()) code = 128 + signal_.number();
  if (code == 0 && command_.pauses) {
    auto paused = co_await pause();
    code = paused.value_or(1);
  }
  listening_.cancel();
  (void)co_await listening_.join();
  co_return code;
}

void Work::sum_up() {
  const int all = counts_.changed + counts_.unchanged + counts_.failed;
  if (command_.is_quiet || (all == 0 && !is_cut_short_)) return;
  output_.complain("summary",
                   cat(counts_.changed, command_.is_dry ? " would change, " : " changed, ",
                       counts_.unchanged, " unchanged, ", counts_.failed, " failed",
                       !is_cut_short_       ? ""
                       : signal_.has_come() ? ", ended early by a signal"
                                            : ", ended early: the time of --timeout is over"));
}

aio::Task<int> Work::pause() {
  health_.ready();
  output_.print("Paused (waiting for SIGTERM or SIGINT to stop)...");
  MNET_CO_TRY_VOID(co_await stop_.wait());
  output_.print("Stopped.");
  co_return 0;
}

}  // namespace mnet::cni_node
