#include "cni_node/program.h"

#include <sys/stat.h>

#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni_node/command.h"
#include "cni_node/watch.h"
#include "cni_node/work.h"
#include "nodetools/options.h"
#include "nodetools/output.h"
#include "nodetools/reaper.h"
#include "nodetools/version_text.h"
#include "sys/environment.h"
#include "sys/file.h"
#include "sys/signals.h"

namespace mnet::cni_node {
namespace {

bool is_regular(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

int list_plugins(const std::string& source, nodetools::Output& output) {
  const auto entries = sys::list_directory(source);
  if (!entries) {
    output.complain(source, entries.error().text());
    return 1;
  }
  std::string names;
  for (const sys::Entry& entry : *entries) {
    const bool is_hidden = entry.name.starts_with('.');
    if (!is_hidden && is_regular(cat(source, "/", entry.name))) names += cat(entry.name, "\n");
  }
  if (!names.empty()) output.print(names);
  return 0;
}

aio::Task<int> work(const Command* command, nodetools::Output* output, sys::Signals* signals) {
  const auto executor = co_await aio::asio::this_coro::executor;
  aio::Group group(executor, Log());
  group.spawn("reaper", nodetools::reap_orphans());
  Result<int> code;
  if (command->action == Command::Action::kWatch) {
    Watch watch(*command, *output, *signals, executor);
    code = co_await watch.run();
  } else {
    Work once(*command, *output, *signals);
    code = co_await once.run();
  }
  group.cancel();
  MNET_CO_TRY_VOID(co_await group.join());
  co_return code;
}

int run_work(const Command& command, nodetools::Output& output) {
  auto signals = sys::Signals::take_over({SIGTERM, SIGINT});
  if (!signals) {
    output.complain("signals", signals.error().text());
    return 1;
  }
  aio::asio::io_context loop(1);
  const auto code = aio::run(loop, work(&command, &output, &*signals));
  if (code) return *code;
  output.complain("error", code.error().text());
  return 1;
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
      return list_plugins(command->directories.plugin_source, output);
    default:
      return run_work(*command, output);
  }
}

}  // namespace mnet::cni_node
