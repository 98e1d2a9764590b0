#include "kube_watch/program.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
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
#include "aio/sleep.h"
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
#include "nodetools/health.h"
#include "nodetools/health_server.h"
#include "nodetools/options.h"
#include "nodetools/output.h"
#include "nodetools/reaper.h"
#include "nodetools/run_task.h"
#include "nodetools/stop_signal.h"
#include "sys/environment.h"
#include "sys/signals.h"

namespace mnet::kube_watch {
namespace {

constexpr std::chrono::milliseconds kChannelPoll{200};

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

  Deliveries& deliveries() { return deliveries_; }
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

// What the values of the channel are of, for the next kube-watch on it.
std::string subject_of(const Command& command) {
  if (command.action == Command::Action::kFile) return cat("file ", command.file);
  return cat("object ", command.type, " ",
             command.wants_all_namespaces ? "*" : command.ns.value_or(""), "/", command.name,
             command.label.empty() ? "" : " ", command.label, " ", command.jsonpath);
}

// Waits for another kube-watch, that of an ending pod for example; none if we are stopped first.
aio::Task<std::optional<Channel>> take_channel(const Command* command, sys::Signals* signals,
                                               nodetools::Output* output) {
  nodetools::StopSignal stop(*signals);
  for (bool is_told = false;; is_told = true) {
    auto channel = Channel::make(command->channel, subject_of(*command));
    if (!channel) co_return std::move(channel).error().wrap(command->channel);
    if (*channel || stop.has_come()) co_return *std::move(channel);
    if (!is_told) {
      output->print(
          cat("Waiting for another kube-watch to leave the channel ", command->channel, "..."));
    }
    MNET_CO_TRY_VOID(co_await aio::sleep_for(kChannelPoll));
  }
}

// Once the channel is ours.
aio::Task<int> watch_channel(const Command* command, Channel channel, sys::Signals* signals,
                             nodetools::Output* output, nodetools::Health* health,
                             std::function<std::string()>* metrics) {
  if (!channel.dropped().empty()) {
    output->complain(command->channel, cat("warning: the stored value belongs to another target, `",
                                           channel.dropped(), "`, and is discarded"));
  }
  output->print(cat("Watching channel ", command->channel, "..."));
  const auto executor = co_await aio::asio::this_coro::executor;
  Watch watch(executor, *command, std::move(channel), *signals, *output);
  Deliveries& deliveries = watch.deliveries();
  const auto tell = [&deliveries, health] {
    const std::string trouble = deliveries.trouble();
    trouble.empty() ? health->ready() : health->not_ready(trouble);
  };
  tell();
  deliveries.on_change(tell);
  *metrics = [&deliveries] { return deliveries.metrics(); };
  MNET_CO_TRY_VOID(watch.prepare());
  co_return co_await watch.run();
}

aio::Task<int> watch(const Command* command, sys::Signals* signals, nodetools::Output* output) {
  const auto executor = co_await aio::asio::this_coro::executor;
  aio::Group group(executor, Log());
  nodetools::Health health("kube-watch");
  group.spawn("health", health.beat());
  std::function<std::string()> metrics = [] { return std::string(); };
  std::optional<nodetools::HealthServer> server;
  if (command->listen) {
    server.emplace(executor, *command->listen, health, [&metrics] { return metrics(); }, *output);
    group.spawn("listen", server->run());
  }
  health.not_ready("waiting for the channel");
  Result<int> code(0);
  auto channel = co_await take_channel(command, signals, output);
  if (!channel) {
    code = std::move(channel).error();
  } else if (*channel) {
    code =
        co_await watch_channel(command, **std::move(channel), signals, output, &health, &metrics);
  }
  metrics = [] { return std::string(); };
  group.cancel();
  (void)co_await group.join();
  co_return code;
}

int run_watch(const Command& command, nodetools::Output& output) {
  return nodetools::run_task(output, [&](sys::Signals& signals) {
    for (const std::string& warning : command.warnings) output.complain("warning", warning);
    output.print(cat("Setting handler ", command.handler, "..."));
    output.print(cat("Setting channel ", command.channel, "..."));
    output.print(cat("Creating channel ", command.channel, "..."));
    return watch(&command, &signals, &output);
  });
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
    case Command::Action::kHealth:
      return nodetools::check_health("kube-watch", output);
    case Command::Action::kVersion:
      output.print(nodetools::version_text());
      return 0;
    default:
      return run_watch(*command, output);
  }
}

}  // namespace mnet::kube_watch
