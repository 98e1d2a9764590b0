#include "cni_node/work.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/readable.h"
#include "aio/task.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni_node/command.h"
#include "cni_node/names.h"
#include "nodetools/output.h"
#include "sys/signals.h"

namespace mnet::cni_node {
namespace {

using Action = Command::Action;

Names reversed(Names names) {
  std::ranges::reverse(names);
  return names;
}

Names desired(const std::optional<Lists>& lists) { return lists ? lists->desired : Names(); }

std::vector<Step> without_empty(std::vector<Step> steps) {
  std::erase_if(steps, [](const Step& step) { return step.names.empty(); });
  return steps;
}

std::vector<Step> installing(Names plugins, Names configs, Names manifests) {
  return without_empty({{ItemKind::kPlugin, true, std::move(plugins)},
                        {ItemKind::kConfig, true, std::move(configs)},
                        {ItemKind::kManifest, true, std::move(manifests)}});
}

// The configuration makes the runtime call the rest, so it goes first.
std::vector<Step> removing(Names plugins, Names configs, Names manifests) {
  return without_empty({{ItemKind::kConfig, false, reversed(std::move(configs))},
                        {ItemKind::kManifest, false, reversed(std::move(manifests))},
                        {ItemKind::kPlugin, false, reversed(std::move(plugins))}});
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

Work::Work(const Command& command, nodetools::Output& output, sys::Signals& signals)
    : command_(command),
      output_(output),
      signals_(signals),
      files_(
          command.directories,
          {.validates = command.validates, .is_quiet = command.is_quiet, .is_dry = command.is_dry},
          output),
      manifests_(command, output) {}

bool Work::is_told_to_stop() {
  if (!signal_) signal_ = signals_.take();
  return signal_.has_value();
}

aio::Task<bool> Work::do_item(ItemKind kind, bool installs, std::string name) {
  if (kind == ItemKind::kPlugin) {
    co_return installs ? files_.install_plugin(name) : files_.remove_plugin(name);
  }
  if (kind == ItemKind::kConfig) {
    co_return installs ? files_.install_config(name) : files_.remove_config(name);
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
    output_.complain(name, done.error().text());
    ++counts_.failed;
    if (step.installs) co_return Result<void>();
  }
  if (counts_.failed == failed_before) output_.print("Done.");
  co_return Result<void>();
}

aio::Task<int> Work::run() {
  for (std::vector<Step>& phase : steps_of(command_)) {
    for (Step& step : phase) {
      const bool installs = step.installs;
      MNET_CO_TRY_VOID(co_await work_off(std::move(step)));
      if (is_cut_short_ || (installs && counts_.failed > 0)) break;
    }
    if (is_cut_short_ || counts_.failed > 0) break;
  }
  sum_up();
  if (is_cut_short_) co_return 128 + signal_.value_or(0);
  if (counts_.failed > 0) co_return 1;
  if (!command_.pauses) co_return 0;
  co_return co_await pause();
}

void Work::sum_up() {
  const int all = counts_.changed + counts_.unchanged + counts_.failed;
  if (command_.is_quiet || (all == 0 && !is_cut_short_)) return;
  output_.complain("summary",
                   cat(counts_.changed, command_.is_dry ? " would change, " : " changed, ",
                       counts_.unchanged, " unchanged, ", counts_.failed, " failed",
                       is_cut_short_ ? ", ended early by a signal" : ""));
}

aio::Task<int> Work::pause() {
  output_.print("Paused (waiting for SIGTERM or SIGINT to stop)...");
  const auto executor = co_await aio::asio::this_coro::executor;
  aio::Readable readable(executor, signals_.fd());
  while (!is_told_to_stop()) {
    MNET_CO_TRY_VOID(co_await readable.wait());
  }
  output_.print("Stopped.");
  co_return 0;
}

}  // namespace mnet::cni_node
