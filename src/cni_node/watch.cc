#include "cni_node/watch.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "aio/all.h"
#include "aio/readable.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni_node/command.h"
#include "cni_node/desired.h"
#include "cni_node/files.h"
#include "cni_node/manifests.h"
#include "cni_node/mounts.h"
#include "cni_node/names.h"
#include "cni_node/node_items.h"
#include "cni_node/object_server.h"
#include "cni_node/owner.h"
#include "cni_node/reconcile.h"
#include "json/json.h"
#include "kube/kube.h"
#include "kube/reflector.h"
#include "kube/retries.h"
#include "kube/watch_event.h"
#include "ledger/ledger.h"
#include "ledger/ledger_file.h"
#include "nodetools/api_access.h"
#include "nodetools/follow_files.h"
#include "nodetools/health.h"
#include "nodetools/output.h"
#include "sys/file.h"
#include "sys/file_lock.h"
#include "sys/signals.h"

namespace mnet::cni_node {
namespace {

using namespace std::chrono_literals;

constexpr auto kQuiet = 250ms;      // events closer than this are one
constexpr auto kLongestQuiet = 2s;  // but no later than this
constexpr auto kBetweenRounds = 1s;
constexpr auto kLockPoll = 500ms;
constexpr auto kPatience = 2s;   // with another process that changes a directory or the ledger
constexpr auto kItemGrace = 3s;  // for the item that runs when we are stopped
constexpr auto kCleanUpTime = 25s;
constexpr auto kFar = std::chrono::hours(24 * 365);

WriterSettings writer_settings(const Command& command, std::string ns) {
  // What fails is tried again anyway, and files must not wait for it.
  return {.ns = std::move(ns),
          .field_manager = command.field_manager,
          .wait_time = command.wait_time,
          .retries = kube::tool_retries(2, 10s)};
}

std::optional<Names> desired_list(const std::optional<Lists>& lists) {
  if (!lists) return std::nullopt;
  return lists->desired;
}

}  // namespace

Watch::Watch(const Command& command, nodetools::Output& output, sys::Signals& signals,
             const aio::asio::any_io_executor& executor, nodetools::Health& health)
    : command_(command),
      output_(output),
      signal_(signals),
      health_(health),
      executor_(executor),
      group_(executor, [this](const std::string& name,
                              const Error& error) { output_.complain(name, error.text()); }),
      rest_group_(executor, [this](const std::string& name,
                                   const Error& error) { output_.complain(name, error.text()); }),
      manifests_(command, output),
      next_resync_(Clock::now() + (command.resync.count() > 0 ? command.resync : kFar)) {}

Watch::~Watch() = default;

std::string Watch::source() const {
  return command_.configmap.empty() ? "options" : cat(ns_, "/", command_.configmap);
}

Result<void> Watch::reach_api() {
  const bool has_manifests = command_.manifests && !command_.manifests->desired.empty();
  if (command_.configmap.empty() && command_.owner.empty() && !has_manifests) return {};
  MNET_TRY(auto&& client, nodetools::make_api_client(command_.access, "cni-node", Log()));
  ns_ = command_.configmap_ns.empty() ? client.ns : command_.configmap_ns;
  api_ = std::move(client.api);
  if (!command_.owner.empty()) {
    owner_.emplace(*api_, command_.owner_ns.empty() ? client.ns : command_.owner_ns,
                   command_.owner);
  }
  manifests_.use(*api_, writer_settings(command_, client.ns));
  return {};
}

// Another watch, the old pod of a rolling update say, ends first.
aio::Task<bool> Watch::take_lock() {
  const std::string& state = command_.directories.state;
  MNET_CO_TRY_VOID(sys::make_directories(sys::directory_of(state), 0755));
  for (bool is_told = false; !stop_.is_set(); is_told = true) {
    MNET_CO_TRY(auto&& lock, sys::FileLock::try_file(cat(state, ".lock")));
    if (lock) {
      lock_ = *std::move(lock);
      co_return true;
    }
    if (!is_told) {
      output_.print("Waiting for another cni-node watch to end...");
      health_.not_ready("waiting for another cni-node watch to end");
    }
    (void)co_await stop_.wait(Clock::now() + kLockPoll);
  }
  co_return false;
}

bool Watch::is_stopping() {
  if (!stop_.is_set() && signal_.has_come()) {
    stop_.set();
    wake_.notify_all();
  }
  return stop_.is_set();
}

void Watch::warn_of_no_volume() {
  const std::string& state = command_.directories.state;
  if (!command_.directories.is_usual_state || is_below_a_mount(state)) return;
  output_.complain(state,
                   "warning: not on a volume: another container will not know what this one has "
                   "installed and replaced; mount a directory of the node there");
}

Result<void> Watch::open_the_ledger() {
  const std::string& state = command_.directories.state;
  // What ends waits does not end the clean-up that follows.
  const auto stops = [this] { return !is_finishing_ && is_stopping(); };
  MNET_TRY(
      auto&& ledger,
      ledger::LedgerFile::load(
          state, {.patience = kPatience, .stops = stops, .warn = [this](const std::string& text) {
                    output_.complain(command_.directories.state, text);
                  }}));
  ledger_ = std::move(ledger);
  files_.emplace(command_.directories,
                 FileSettings{.validates = command_.validates,
                              .is_quiet = command_.is_quiet,
                              .downgrades = command_.downgrades,
                              .patience = kPatience,
                              .stops = stops},
                 output_, ledger_.get());
  MNET_TRY_VOID(files_->adopt(ledger::Ledger(ledger_->entries())));
  return ledger_->update([this](ledger::Ledger& entries) { entries.source = source(); });
}

Result<void> Watch::prepare() {
  warn_of_no_volume();
  MNET_TRY_VOID(open_the_ledger());
  MNET_TRY(auto&& follower,
           nodetools::FileFollower::make(executor_, {.quiet = 20ms,
                                                     .root = command_.directories.host_root,
                                                     .warn = [this](const std::string& text) {
                                                       output_.complain("files", text);
                                                     }}));
  file_follower_ = std::make_unique<nodetools::FileFollower>(std::move(follower));
  reconciler_ = std::make_unique<Reconciler>(
      NodeItems{*files_, manifests_, *ledger_, output_, [this] { return is_stopping(); }});
  return {};
}

aio::Task<int> Watch::run() {
  group_.spawn("signals", await_signal());
  auto code = co_await watch();
  rest_group_.cancel();
  (void)co_await rest_group_.join();
  group_.cancel();
  (void)co_await group_.join();
  co_return code;
}

aio::Task<int> Watch::watch() {
  auto reached = reach_api();
  if (!reached) {
    output_.complain("watch", reached.error().text());
    co_return 1;
  }
  auto locked = co_await take_lock();
  if (locked && !*locked) {
    output_.print("Stopped.");
    co_return 0;
  }
  auto prepared = locked ? prepare() : Result<void>(locked.error());
  if (!prepared) {
    output_.complain("watch", prepared.error().text());
    co_return 1;
  }
  health_.not_ready(command_.configmap.empty() ? "installing" : "waiting for the ConfigMap");
  if (command_.configmap.empty()) {
    desired_ = {.plugins = desired_list(command_.plugins),
                .configs = desired_list(command_.configs),
                .manifests = desired_list(command_.manifests),
                .pins = command_.plugins ? command_.plugins->pins : Pins()};
    is_desired_known_ = true;
    output_.print("Watching files...");
    touch();
  } else {
    output_.print(cat("Watching configmap ", source(), "..."));
    group_.spawn("configmap", follow_configmap());
  }
  if (owner_) group_.spawn("owner", owner_->learn());
  group_.spawn("files", follow_files());
  (void)co_await reconcile_until_stopped();
  co_return co_await finish();
}

aio::Task<void> Watch::await_signal() {
  aio::Readable readable(executor_, signal_.fd());
  while (!is_stopping()) {
    MNET_CO_TRY_VOID(co_await readable.wait());
  }
  co_return Result<void>();
}

aio::Task<void> Watch::follow_configmap() {
  kube::ReflectorSettings what =
      kube::tool_watch(cat("/api/v1/namespaces/", kube::query_value(ns_), "/configmaps"));
  what.name = command_.configmap;
  kube::Reflector reflector(*api_, std::move(what), *this, Log());
  co_return co_await reflector.run();
}

aio::Task<void> Watch::follow_files() {
  for (;;) {
    MNET_CO_TRY_VOID(co_await file_follower_->wait());
    touch();
  }
}

void Watch::touch() {
  if (!is_touched_) touched_at_ = Clock::now();
  is_touched_ = true;
  wake_.notify_all();
}

void Watch::take_desired(DesiredNow now) {
  const std::string errors = join(now.errors, "; ");
  if (!errors.empty() && errors != last_configmap_error_) output_.complain(source(), errors);
  last_configmap_error_ = errors;
  if (is_desired_known_ && now.lists == desired_) return;
  desired_ = std::move(now.lists);
  is_desired_known_ = true;
  touch();
}

Result<void> Watch::add(const json::Object& object) {
  take_desired(desired_of(object, desired_));
  return {};
}

Result<void> Watch::change(kube::EventType type, const json::Object& object) {
  if (type != kube::EventType::kDeleted) return add(object);
  output_.complain(source(), "warning: the ConfigMap was deleted; everything stays as it is");
  return {};
}

void Watch::absent() {
  output_.complain(source(), "warning: the ConfigMap does not exist; everything stays as it is");
}

void Watch::connected() {
  reconciler_->api_is_back();
  if (is_desired_known_) touch();
}

void Watch::trouble(const std::string& why) {
  output_.complain(source(), why);
  if (is_desired_known_) return;
  // Until the ConfigMap can be read, what was installed is what is desired.
  const ledger::Ledger& known = ledger_->entries();
  desired_ = {
      .plugins = known.plugins, .configs = known.configs, .manifests = known.manifest_files()};
  is_desired_known_ = true;
  touch();
}

Watch::Clock::time_point Watch::next_round() const {
  // Nothing is due before the lists are known; their arrival wakes us.
  if (!is_desired_known_) return Clock::now() + kFar;
  const auto wanted = std::min(next_resync_, reconciler_->next_try().value_or(next_resync_));
  // What is due may not be doable yet: the rest of an earlier round may still run.
  return std::max(wanted, last_round_ + kBetweenRounds);
}

aio::Task<void> Watch::reconcile_until_stopped() {
  while (!is_stopping()) {
    if (!is_touched_) (void)co_await wake_.wait(next_round());
    if (is_stopping()) break;
    // The end of the rest of a round wakes us, too: there may be less to wait for.
    if (!is_touched_ && Clock::now() < next_round()) continue;
    if (is_touched_) (void)co_await settle();
    is_touched_ = false;
    if (!stop_.is_set() && is_desired_known_) reconcile();
  }
  co_return Result<void>();
}

// Events come in groups.
aio::Task<void> Watch::settle() {
  const auto end = touched_at_ + kLongestQuiet;
  for (;;) {
    const auto until = std::min(Clock::now() + kQuiet, end);
    auto more = co_await wake_.wait(until);
    if (!more || stop_.is_set() || Clock::now() >= end) co_return Result<void>();
  }
}

void Watch::reconcile() {
  last_round_ = Clock::now();
  const bool is_resync = last_round_ >= next_resync_;
  if (is_resync) {
    next_resync_ = last_round_ + command_.resync;
    is_resync_due_ = true;
  }
  files_->begin_run();
  reconciler_->put_files(desired_, is_resync);
  if (auto followed = file_follower_->follow(reconciler_->files_to_follow(desired_)); !followed) {
    output_.complain("files", followed.error().text());
  }
  if (is_rest_running_) {
    wants_rest_again_ = true;
    return;
  }
  is_rest_running_ = rest_group_.spawn("manifests", do_the_rest());
}

aio::Task<void> Watch::do_the_rest() {
  // Not at once: spawn() has to return first.
  co_await aio::asio::post(executor_, aio::asio::use_awaitable);
  Result<void> done;
  do {
    wants_rest_again_ = false;
    done = co_await reconciler_->do_the_rest(&desired_, std::exchange(is_resync_due_, false));
    tell_health();
    show_status();
  } while (done && wants_rest_again_ && !stop_.is_set());
  is_rest_running_ = false;
  wake_.notify_all();
  co_return done;
}

// At the end of a round.
void Watch::tell_health() {
  const std::string trouble = reconciler_->trouble();
  ++counts_.rounds;
  counts_.time += Clock::now() - last_round_;
  if (trouble.empty()) {
    counts_.last_success = Clock::now();
    health_.ready();
  } else {
    ++counts_.failed_rounds;
    health_.not_ready(trouble);
  }
}

std::string Watch::metrics() const {
  const auto seconds = [](auto time) { return std::chrono::duration<double>(time).count(); };
  std::string out = reconciler_ ? reconciler_->metrics() : "";
  out += cat("# TYPE cni_node_ready gauge\ncni_node_ready ", health_.is_ready() ? 1 : 0,
             "\n# TYPE cni_node_rounds_total counter\ncni_node_rounds_total ", counts_.rounds,
             "\n# TYPE cni_node_failed_rounds_total counter\ncni_node_failed_rounds_total ",
             counts_.failed_rounds,
             "\n# TYPE cni_node_round_seconds summary\ncni_node_round_seconds_sum ",
             seconds(counts_.time), "\ncni_node_round_seconds_count ", counts_.rounds, "\n");
  if (counts_.last_success) {
    out += cat("# TYPE cni_node_seconds_since_success gauge\ncni_node_seconds_since_success ",
               seconds(Clock::now() - *counts_.last_success), "\n");
  }
  return out;
}

void Watch::show_status() {
  std::string now = cat("source    ", source(), "\n", reconciler_->status());
  if (now == shown_status_) return;
  shown_status_ = std::move(now);
  output_.print(nodetools::block("Status", shown_status_));
}

aio::Task<int> Watch::finish() {
  (void)co_await rest_group_.join(Clock::now() + kItemGrace);
  rest_group_.cancel();
  (void)co_await rest_group_.join();
  is_finishing_ = true;
  health_.not_ready("ending");
  bool is_complete = true;
  if (command_.cleans_up) {
    auto cleaned = co_await aio::with_deadline(clean_up(), Clock::now() + kCleanUpTime);
    is_complete = cleaned && *cleaned;
    if (!is_complete) output_.complain("watch", "the clean-up is incomplete");
  }
  output_.print("Stopped.");
  co_return is_complete ? 0 : 1;
}

// Whether nothing is left that should go.
aio::Task<bool> Watch::clean_up() {
  using Fate = Owner::Fate;
  Owner::Verdict verdict{Fate::kGone, ""};
  if (owner_) {
    MNET_CO_TRY(auto&& judged, co_await owner_->judge());
    verdict = std::move(judged);
    output_.complain(
        "watch", cat(verdict.why, verdict.fate == Fate::kStays ? "; everything stays as it is"
                                                               : "; removing what was installed"));
  }
  if (verdict.fate == Fate::kStays) co_return true;
  files_->begin_run();
  co_return co_await reconciler_->clean_up(verdict.fate == Fate::kGone);
}

}  // namespace mnet::cni_node
