#include "kube_watch/program.h"

#include <boost/asio/io_context.hpp>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "aio/event.h"
#include "aio/group.h"
#include "aio/readable.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "kube/api.h"
#include "kube/kube.h"
#include "kube_watch/channel.h"
#include "kube_watch/command.h"
#include "kube_watch/deliveries.h"
#include "kube_watch/sources.h"
#include "nodetools/api_access.h"
#include "nodetools/options.h"
#include "nodetools/output.h"
#include "nodetools/reaper.h"
#include "nodetools/version_text.h"
#include "sys/environment.h"
#include "sys/signals.h"

namespace mnet::kube_watch {
namespace {

// Errors of the client, such as credentials that cannot be read, as lines of our own.
class ClientLog final : public LogTarget {
 public:
  explicit ClientLog(nodetools::Output& output) : output_(output) {}
  void write(std::string_view line) override { output_.complain("api", trim(line)); }

 private:
  nodetools::Output& output_;
};

// Everything that runs, and its end: sources first, then the handler, then we.
class Watch {
 public:
  Watch(const aio::asio::any_io_executor& executor, const Command& command, Channel channel,
        sys::Signals& signals, nodetools::Output& output)
      : command_(command),
        signals_(signals),
        output_(output),
        deliveries_(settings_of(command), std::move(channel), output),
        sources_(executor, [this](const std::string&, const Error& why) { fail(why); }),
        handling_(executor, [this](const std::string&, const Error& why) { fail(why); }),
        listening_(executor, [this](const std::string&, const Error& why) { fail(why); }) {}

  Result<void> prepare();
  // The exit status.
  aio::Task<int> run();

 private:
  static Deliveries::Settings settings_of(const Command& command) {
    Deliveries::Settings settings;
    settings.handler = command.handler;
    settings.timeout = command.handler_timeout;
    settings.wants_empty = command.wants_empty;
    settings.environment = sys::environment();
    return settings;
  }

  Result<void> prepare_object();
  void fail(const Error& why);
  aio::Task<void> listen();

  const Command& command_;
  sys::Signals& signals_;
  nodetools::Output& output_;
  Deliveries deliveries_;
  std::unique_ptr<kube::Api> api_;
  std::optional<ObjectWatch> object_;
  std::optional<FileSource> file_;
  aio::Event end_;
  bool has_failed_ = false;
  aio::Group sources_, handling_, listening_;
};

Result<void> Watch::prepare() {
  const bool follows_one = command_.action == Command::Action::kFile || !command_.name.empty();
  if (follows_one) {
    MNET_TRY_VOID(deliveries_.remember(kOnlyKey));
  }
  if (command_.action == Command::Action::kObject) return prepare_object();
  std::error_code failed;
  const auto path = std::filesystem::absolute(command_.file, failed);
  if (failed) return Error(Errc::kInvalid, cat(command_.file, ": ", failed.message()));
  file_.emplace(clean_path(path.string()), deliveries_, output_);
  return {};
}

Result<void> Watch::prepare_object() {
  const Log log({std::make_shared<ClientLog>(output_)}, LogLevel::kError);
  MNET_TRY(auto&& client, nodetools::make_api_client({.kubeconfig = command_.kubeconfig,
                                                      .environment = sys::environment()},
                                                     "kube-watch", log));
  api_ = std::move(client.api);
  object_.emplace(command_, std::move(client.ns), *api_, deliveries_, output_);
  return {};
}

void Watch::fail(const Error& why) {
  output_.complain("error", why.text());
  has_failed_ = true;
  end_.set();
}

// The first signal ends us in good order, the second at once.
aio::Task<void> Watch::listen() {
  aio::Readable readable(co_await aio::asio::this_coro::executor, signals_.fd());
  for (;;) {
    MNET_CO_TRY_VOID(co_await readable.wait());
    while (signals_.take()) {
      if (end_.is_set()) deliveries_.kill_handler();
      end_.set();
    }
  }
}

aio::Task<int> Watch::run() {
  listening_.spawn("signals", listen());
  listening_.spawn("reaper", nodetools::reap_orphans());
  handling_.spawn("handler", deliveries_.run());
  sources_.spawn("source", object_ ? object_->run() : file_->run());
  MNET_CO_TRY_VOID(co_await end_.wait());
  for (aio::Group* group : {&sources_, &handling_, &listening_}) {
    group->cancel();
    // Signals are heard until the handler has ended.
    MNET_CO_TRY_VOID(co_await group->join());
  }
  co_return has_failed_ ? 1 : 0;
}

aio::Task<int> watch(const Command* command, Channel channel, sys::Signals* signals,
                     nodetools::Output* output) {
  const auto executor = co_await aio::asio::this_coro::executor;
  Watch watch(executor, *command, std::move(channel), *signals, *output);
  MNET_CO_TRY_VOID(watch.prepare());
  co_return co_await watch.run();
}

int run_watch(const Command& command, nodetools::Output& output) {
  auto signals = sys::Signals::take_over({SIGTERM, SIGINT});
  if (!signals) {
    output.complain("signals", signals.error().text());
    return 1;
  }
  for (const std::string& warning : command.warnings) output.complain("warning", warning);
  output.print(cat("Setting handler ", command.handler, "..."));
  output.print(cat("Setting channel ", command.channel, "..."));
  output.print(cat("Creating channel ", command.channel, "..."));
  auto channel = Channel::make(command.channel);
  if (!channel) {
    output.complain(command.channel, channel.error().text());
    return 1;
  }
  output.print(cat("Watching channel ", command.channel, "..."));
  aio::asio::io_context loop(1);
  const auto code = aio::run(loop, watch(&command, *std::move(channel), &*signals, &output));
  if (code) return *code;
  output.complain("error", code.error().text());
  return 1;
}

}  // namespace

int run_program(const std::vector<std::string>& words) {
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGHUP, SIG_IGN);
  const auto command = parse_command(words);
  if (!command) return nodetools::refuse(command.error(), usage());
  nodetools::ProcessOutput output("kube-watch");
  switch (command->action) {
    case Command::Action::kHelp:
      output.print(usage());
      return 0;
    case Command::Action::kVersion:
      output.print(nodetools::version_text());
      return 0;
    default:
      return run_watch(*command, output);
  }
}

}  // namespace mnet::kube_watch
