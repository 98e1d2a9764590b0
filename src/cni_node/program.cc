#include "cni_node/program.h"

#include <algorithm>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aio/group.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni_node/command.h"
#include "cni_node/files.h"
#include "cni_node/report.h"
#include "cni_node/watch.h"
#include "cni_node/work.h"
#include "ledger/ledger.h"
#include "nodetools/health.h"
#include "nodetools/health_server.h"
#include "nodetools/options.h"
#include "nodetools/output.h"
#include "nodetools/reaper.h"
#include "nodetools/run_task.h"
#include "nodetools/stop_signal.h"
#include "sys/environment.h"
#include "sys/file_lock.h"
#include "sys/signals.h"

namespace mnet::cni_node {
namespace {

// Says it, and yields the exit status.
int told(const Result<std::string>& text, nodetools::Output& output) {
  if (!text) {
    output.complain("error", text.error().text());
    return 1;
  }
  if (!text->empty()) output.print(*text);
  return 0;
}

int report(const Command& command, nodetools::Output& output) {
  const auto ledger = open_ledger(command, output, {});
  if (!ledger) return told(ledger.error(), output);
  const Files files(command.directories, {}, output, ledger->get());
  const ledger::Ledger known = *ledger ? (*ledger)->entries() : ledger::Ledger();
  const bool verifies = command.action == Command::Action::kVerify;
  const auto items =
      verifies ? report_verification(command, files, known) : report_status(command, files, known);
  (void)told(command.output == Command::Output::kJson ? json_of(items) : text_of(items), output);
  const bool is_good = std::ranges::all_of(
      items, [](const ItemReport& item) { return item.state == ItemReport::State::kPresent; });
  return verifies && !is_good ? 1 : 0;
}

// A watch would undo it at once.
Result<bool> roll_back(const Command& command, nodetools::Output& output,
                       const sys::FileLock::Stops& stops) {
  MNET_TRY(const auto& ledger, open_ledger(command, output, {.stops = stops}));
  if (!ledger) {
    return Error(Errc::kNotFound, cat("there is no ledger at ", command.directories.state));
  }
  MNET_TRY(const auto& lock, sys::FileLock::try_file(cat(command.directories.state, ".lock")));
  if (!lock) {
    return Error(Errc::kConflict,
                 "a cni-node watch keeps this node in step; change what it follows instead");
  }
  Files files(command.directories, {.stops = stops}, output, ledger.get());
  return files.rollback();
}

// Signals are taken over because process 1 of a container would not be ended by them.
int run_rollback(const Command& command, nodetools::Output& output) {
  auto signals = sys::Signals::take_over({SIGTERM, SIGINT});
  if (!signals) return told(signals.error(), output);
  nodetools::StopSignal stop(*signals);
  const auto done = roll_back(command, output, [&stop] { return stop.has_come(); });
  if (!done) output.complain("rollback", done.error().text());
  if (!done && done.error().code() == Errc::kCancelled) return 128 + stop.number();
  return done && *done ? 0 : 1;
}

aio::Task<int> work(const Command* command, nodetools::Output* output, sys::Signals* signals) {
  const auto executor = co_await aio::asio::this_coro::executor;
  aio::Group group(executor, Log());
  nodetools::Health health("cni-node");
  std::function<std::string()> metrics = [] { return std::string(); };
  std::optional<nodetools::HealthServer> server;
  if (command->listen) {
    server.emplace(executor, *command->listen, health, [&metrics] { return metrics(); }, *output);
    group.spawn("listen", server->run());
  }
  group.spawn("reaper", nodetools::reap_orphans());
  group.spawn("health", health.beat());
  Result<int> code;
  if (command->action == Command::Action::kWatch) {
    Watch watch(*command, *output, *signals, executor, health);
    metrics = [&watch] { return watch.metrics(); };
    code = co_await watch.run();
    metrics = [] { return std::string(); };
  } else {
    Work once(*command, *output, *signals, executor, health);
    code = co_await once.run();
  }
  group.cancel();
  MNET_CO_TRY_VOID(co_await group.join());
  co_return code;
}

int run_work(const Command& command, nodetools::Output& output) {
  return nodetools::run_task(
      output, [&](sys::Signals& signals) { return work(&command, &output, &signals); });
}

}  // namespace

int run_program(const std::vector<std::string>& words) {
  (void)std::signal(SIGPIPE, SIG_IGN);
  const auto command = parse_command(words, sys::environment());
  if (!command) return nodetools::refuse(command.error(), usage());
  nodetools::ProcessOutput output("cni-node");
  switch (command->action) {
    case Command::Action::kHelp:
      output.print(usage());
      return 0;
    case Command::Action::kVersion:
      output.print(nodetools::version_text());
      return 0;
    case Command::Action::kList:
      return told(list_plugins(*command), output);
    case Command::Action::kStatus:
    case Command::Action::kVerify:
      return report(*command, output);
    case Command::Action::kHealth:
      return nodetools::check_health("cni-node", output);
    case Command::Action::kRollback:
      return run_rollback(*command, output);
    default:
      return run_work(*command, output);
  }
}

}  // namespace mnet::cni_node
