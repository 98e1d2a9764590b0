#include "daemon/daemon.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "daemon/config.h"
#include "daemon/logging.h"
#include "daemon/node_config.h"
#include "daemon/objects.h"
#include "daemon/process.h"
#include "daemon/readiness.h"
#include "handover/handover.h"
#include "http/http.h"
#include "metrics/metrics.h"
#include "metrics/server.h"
#include "model/delegate_timeout.h"
#include "nodeconf/file_keeper.h"
#include "nodeconf/manager.h"
#include "settings/config_check.h"
#include "sys/environment.h"
#include "sys/socket_file.h"
#include "sys/write_all.h"
#include "wire/wire.h"

namespace mnet::daemon {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// 03, 2.12: all of these waits may come one after the other, when delegates hang and the API is
// silent.
constexpr auto kLateShims = 10s;
constexpr auto kWaitForNext = 8s;  // less than a shim waits for a daemon that is ready
constexpr auto kRunningRequests = 190s;
constexpr auto kRunningRequestsInAHurry = 13s;
constexpr auto kLookAtRequests = 100ms;  // between two looks whether all have ended
constexpr auto kLastMoment = 3s;
constexpr auto kLastEvents = 1s;
constexpr auto kLastTasks = 500ms;
// A request that its delegates' own deadlines would end is not cut off before.
static_assert(kRunningRequests > model::kDelegateTimeout);
// The kubelet kills us 210 s after the signal (terminationGracePeriodSeconds).
static_assert(kLateShims + kRunningRequests + kLastMoment + kLastEvents + kLastTasks <= 208s);

constexpr auto kReplayPeriod = 30s;
constexpr auto kWaitingLine = 30s;
constexpr auto kFirstSync = 20s;  // of the stores of the API; then it is asked live
constexpr auto kOwnReadiness = 60s;
constexpr auto kLook = 500ms;  // between two looks whether another daemon still serves
constexpr auto kRest = 10s;    // between two looks whether memory can be given back
constexpr const char* kManager = "CNI configuration";  // as a hindrance
constexpr const char* kHandover = "hand-over";         // likewise

}  // namespace

Daemon::Daemon(aio::asio::io_context& loop, Config config, Logging logging)
    : loop_(loop),
      logging_(std::move(logging)),
      log_(logging_.log),
      signals_(loop, SIGINT, SIGTERM),
      assembly_(loop.get_executor(), std::move(config), log_),
      socket_path_(wire::socket_path(assembly_.config.socket_dir)),
      own_path_(handover::own_socket_path(socket_path_,
                                          sys::variable(sys::environment(), kPodUidVariable))),
      self_check_(assembly_.config, assembly_.objects, assembly_.devices, assembly_.pool, log_),
      replays_(loop.get_executor(), log_),
      owners_(loop.get_executor(), log_),
      background_(loop.get_executor(), log_) {
  assembly_.last_errors = [errors = logging_.last_errors] { return errors->lines(); };
  await_signal();
}

Daemon::~Daemon() = default;

void Daemon::await_signal() {
  signals_.async_wait([this](const boost::system::error_code& failure, int number) {
    if (failure) return;
    on_signal(number);
    await_signal();
  });
}

void Daemon::on_signal(int number) {
  ++signals_seen_;
  if (signals_seen_ >= 3) std::_Exit(1);
  if (signals_seen_ == 2) {
    hurry_.set();
    change_.notify_all();
  }
  if (signals_seen_ > 1) return;
  log_.verbatim(LogLevel::kVerbose,
                cat("caught ", number == SIGINT ? "interrupt" : "terminated", ", stopping..."));
  assembly_.readiness.stop();
  assembly_.stop_own_work();
  stop_.set();
  change_.notify_all();
}

aio::Task<int> Daemon::run() {
  log_.verbatim(LogLevel::kVerbose, "multus-daemon started");
  for (const std::string& warning : config_warnings(assembly_.config)) {
    log_.warning(with_file(assembly_.config, warning));
  }
  if (const auto code = refuse_to_start()) co_return *code;
  if (auto swept = sweep_config_dir(assembly_.config); !swept) log_.warning(swept.error().text());
  if (const auto code = open_socket()) co_return *code;
  start_background();
  const auto failed = co_await serve();
  const int code = failed.value_or(0);
  co_await shut_down(code);
  co_return code;
}

aio::asio::awaitable<std::optional<int>> Daemon::serve() {
  const bool may_work = co_await wait_until(&orphans_ended_);
  if (!may_work) co_return ended_early();
  background_.spawn("name of the socket", take_name());
  const bool is_found = co_await wait_until(&has_name_);
  if (!is_found) co_return ended_early();
  // DELs need no objects: they are served meanwhile.
  const bool may_serve = co_await wait_until(&objects_read_);
  if (!may_serve) co_return ended_early();
  replays_.spawn("pending DELs", assembly_.pending.run(kReplayPeriod));
  replays_.spawn("upkeep", assembly_.upkeep.run());
  if (assembly_.controller) replays_.spawn("hot-plug", assembly_.controller->run());
  const bool has_primary = co_await wait_until(&primary_found_);
  if (!has_primary) co_return ended_early();
  assembly_.readiness.start_serving();
  auto failed = co_await await_own_readiness();
  if (failed) co_return failed;
  failed = co_await publish_configuration();
  if (failed) co_return failed;
  (void)co_await stop_.wait();
  co_return std::nullopt;
}

std::optional<int> Daemon::refuse_to_start() {
  const Config& config = assembly_.config;
  if (config.is_automatic()) {
    make_manager();
    if (auto sound = manager_->check(); !sound) return fatal(2, sound.error());
  }
  if (auto limit = check_connection_limit(config); !limit) return fatal(3, limit.error());
  if (auto sound = check_surroundings(config); !sound) return fatal(3, sound.error());
  if (const auto& none = assembly_.objects.failure()) return fatal(3, *none);
  return std::nullopt;
}

void Daemon::make_manager() {
  nodeconf::ManagerHooks hooks;
  Readiness& readiness = assembly_.readiness;
  metrics::Metrics& metrics = assembly_.metrics;
  hooks.hinder = [&readiness](std::string why) { readiness.hinder(kManager, std::move(why)); };
  hooks.unhinder = [&readiness] { readiness.lift(kManager); };
  hooks.wrote = [&metrics](bool succeeded) { metrics.count_config_write(succeeded); };
  hooks.fought = [&metrics] { metrics.count_config_fight(); };
  hooks.is_owner = [this] { return !socket_ || socket_->name() != sys::SocketFile::Name::kTaken; };
  manager_.emplace(assembly_.pool, manager_options(assembly_.config), std::move(hooks), log_);
  assembly_.primary = [this] { return manager_->primary(); };
}

void Daemon::copy_configuration() {
  const Config& config = assembly_.config;
  if (config.is_automatic()) return;
  if (auto copied = copy_user_config(config); !copied) log_.error(copied.error().text());
}

// Listens under a name that no client knows yet.
std::optional<int> Daemon::open_socket() {
  auto made = sys::SocketFile::make(socket_path_);
  if (!made) return fatal(3, made.error());
  socket_.emplace(*std::move(made));
  for (const std::string& warning : socket_->warnings()) log_.warning(warning);
  assembly_.server.serve(socket_->take_listener());
  open_own_name();
  assembly_.handover.enter();
  // While another daemon serves, it stays the one to ask until we are ready ourselves.
  if (socket_->is_served()) {
    log_.warning(cat("another daemon listens on ", socket_path_,
                     "; this one takes over as soon as it is ready"));
  }
  return std::nullopt;
}

// The probes of a pod ask their own daemon, even if another one owns the name of the socket.
void Daemon::open_own_name() {
  handover::remove_dead_names(socket_path_);
  if (own_path_.empty()) return;
  auto made = sys::SocketFile::make(own_path_);
  const auto published = made ? made->publish() : Result<void>(made.error());
  if (!published) {
    if (!std::exchange(own_name_failed_, true)) {
      log_.error(cat("the probes of this pod fail until ", own_path_, " can be made"),
                 published.error());
    }
    return;
  }
  own_name_failed_ = false;
  assembly_.probes.serve_instead(made->take_listener());
  own_socket_.reset();
  own_socket_.emplace(*std::move(made));
}

bool Daemon::could_serve() const {
  return objects_read_ && primary_found_ && assembly_.readiness.missing().empty();
}

aio::Task<void> Daemon::take_name() {
  while (socket_->is_served() && !could_serve()) {
    auto waited = co_await change_.wait(Clock::now() + kLook);
    if (!waited && waited.error().code() != Errc::kTimeout) co_return waited;
    if (stop_.is_set()) co_return Result<void>();
  }
  if (socket_->is_served()) {
    auto announced = co_await assembly_.handover.announce();
    if (!announced) co_return announced;
    // Between the rename and this, no client may find the daemon unready.
    assembly_.readiness.start_serving();
  }
  copy_configuration();
  if (auto published = socket_->publish(); !published) {
    name_failure_ = std::move(published).error();
  } else {
    has_name_ = true;
    handover::NameHooks hooks{.state = [this] { return look_at_names(); },
                              .taken = [this] { retire(); },
                              .lost = [this] { take_name_again(); },
                              .is_served = [this] { return !socket_ || socket_->is_served(); },
                              .abandoned = [this] { end_abandoned(); }};
    background_.spawn("hand-over", assembly_.handover.follow(std::move(hooks)));
  }
  change_.notify_all();
  co_return Result<void>();
}

sys::SocketFile::Name Daemon::look_at_names() {
  using Name = sys::SocketFile::Name;
  const bool has_own = own_socket_ && own_socket_->name() != Name::kGone;
  if (!own_path_.empty() && !has_own) open_own_name();
  return socket_ ? socket_->name() : Name::kOurs;
}

void Daemon::retire() {
  const std::string what = cat("another daemon has taken ", socket_path_);
  log_.warning(cat(what, "; this one only finishes its requests"));
  assembly_.readiness.hinder(kHandover, what);
  assembly_.stop_own_work();
  assembly_.objects.stop_renewal();
  owners_.cancel();
  if (metrics_server_) metrics_server_->stop();
  change_.notify_all();
}

// It cannot serve again: a later daemon could not have asked it for its locks. The kubelet starts a
// new one.
void Daemon::end_abandoned() {
  log_.error(cat("the daemon that had taken ", socket_path_,
                 " is gone, and no other has come: this one ends, to be started anew"));
  stop_.set();
  change_.notify_all();
}

// Daemons of the original remove the name when they end, even if another daemon owns it by then.
void Daemon::take_name_again() {
  auto made = sys::SocketFile::make(socket_path_);
  const auto published = made ? made->publish() : Result<void>(made.error());
  if (!published) return log_.error("the socket was removed", published.error());
  log_.warning(cat(socket_path_, " was removed, and is there again"));
  assembly_.server.serve_instead(made->take_listener());
  socket_.emplace(*std::move(made));
}

void Daemon::start_background() {
  const Config& config = assembly_.config;
  if (!config.chroot_dir.empty()) {
    log_.verbatim(LogLevel::kVerbose, cat("server configured with chroot: ", config.chroot_dir));
  }
  background_.spawn("readiness indicator", assembly_.readiness.report(log_));
  background_.spawn("orphans", note_orphans_ended());
  Objects& objects = assembly_.objects;
  assembly_.readiness.wait_for(cat("the first reading of ", objects.name()));
  background_.spawn(objects.name(), objects.follow());
  background_.spawn("first reading", note_objects_read());
  owners_.spawn("pods without their networks", assembly_.find_missed_pods());
  background_.spawn("owed network statuses", assembly_.statuses.run());
  owners_.spawn("network statuses of an earlier daemon", assembly_.take_up_statuses());
  background_.spawn("memory", give_memory_back());
  assembly_.metrics.add_series(metrics::SeriesKind::kGauge, "multus_self_check_findings",
                               "What the self-check at the start found, by check and severity",
                               [this] { return self_check_.samples(); });
  background_.spawn("self-check", self_check_.run());
  if (manager_) {
    background_.spawn("primary CNI configuration", note_primary_found());
  } else {
    primary_found_ = true;
  }
  if (!config.metrics_port) return;
  metrics::ServerSettings settings;
  settings.address = config.metrics_address;
  settings.port = *config.metrics_port;
  settings.has_pprof = config.enable_pprof.value_or(false);
  settings.refresh = [this] { return assembly_.records.refresh(); };
  settings.is_expected = [this] { return assembly_.handover.is_shared(); };
  metrics_server_.emplace(loop_.get_executor(), assembly_.metrics, std::move(settings), log_);
  owners_.spawn("metrics server", metrics_server_->listen());
}

aio::Task<void> Daemon::note_orphans_ended() {
  auto ended = co_await end_orphans(assembly_.pool, log_);
  orphans_ended_ = true;
  change_.notify_all();
  co_return std::move(ended);
}

// While requests run, what they free is what the next ones take. Events go out after them.
aio::Task<void> Daemon::give_memory_back() {
  for (std::uint64_t seen = 0;;) {
    MNET_CO_TRY_VOID(co_await aio::sleep_for(kRest));
    const std::uint64_t work = assembly_.arrivals.count() + assembly_.objects.requests_made();
    const bool rests = assembly_.requests.running() == 0 && assembly_.requests.waiting() == 0;
    if (!rests || std::exchange(seen, work) == work) continue;
    assembly_.objects.close_idle();
    give_back_memory();
  }
}

aio::Task<void> Daemon::note_objects_read() {
  Objects& objects = assembly_.objects;
  const auto patience = objects.may_serve_unread() ? kFirstSync : kWaitingLine;
  Result<void> read = co_await objects.wait_loaded(Clock::now() + patience);
  while (!read && read.error().code() == Errc::kTimeout) {
    log_.error(assembly_.readiness.why_not());
    if (objects.may_serve_unread()) {
      objects.kube()->report_unsynced();
      break;
    }
    read = co_await objects.wait_loaded(Clock::now() + patience);
  }
  objects_read_ = true;
  change_.notify_all();
  if (!read && read.error().code() == Errc::kTimeout) co_return Result<void>();
  co_return std::move(read);
}

aio::Task<void> Daemon::note_primary_found() {
  auto found = co_await manager_->find();
  if (!found && found.error().code() == Errc::kCancelled) co_return std::move(found);
  if (found) {
    primary_found_ = true;
  } else {
    manager_failure_ = std::move(found).error();
  }
  change_.notify_all();
  co_return Result<void>();
}

aio::asio::awaitable<bool> Daemon::wait_until(const bool* fact) {
  const auto may_go_on = [this] { return !stop_.is_set() && !manager_failure_ && !name_failure_; };
  while (!*fact && may_go_on()) (void)co_await change_.wait();
  co_return may_go_on();
}

std::optional<int> Daemon::ended_early() const {
  if (stop_.is_set()) return std::nullopt;
  return manager_failure_ ? fatal(2, *manager_failure_) : fatal(3, *name_failure_);
}

aio::asio::awaitable<std::optional<int>> Daemon::await_own_readiness() {
  log_.verbatim(LogLevel::kVerbose, "API readiness check");
  http::ClientRequest request{.method = "POST", .target = "/readyz", .host = "dummy"};
  request.body = "null";
  auto deadline = Clock::now() + kOwnReadiness;
  while (!stop_.is_set()) {
    const auto answer = co_await http::request_unix(socket_path_, request, Clock::now() + 5s);
    if (answer && answer->status == 200) {
      log_.verbatim(LogLevel::kVerbose, "API readiness check done!");
      was_ready_ = true;
      co_return std::nullopt;
    }
    if (assembly_.readiness.waits_for_others()) deadline = Clock::now() + kOwnReadiness;
    if (Clock::now() >= deadline) {
      const Error cause =
          answer ? Error(Errc::kUnavailable, cat("status ", answer->status)) : answer.error();
      co_return fatal(1, cause.wrap(cat("failed to ready multus-daemon socket ", socket_path_)));
    }
    (void)co_await change_.wait(Clock::now() + 100ms);
  }
  co_return std::nullopt;
}

// Only now: the runtime must not find the file before the daemon answers.
aio::asio::awaitable<std::optional<int>> Daemon::publish_configuration() {
  if (!manager_ || stop_.is_set() || assembly_.handover.is_taken()) co_return std::nullopt;
  const auto published = co_await manager_->publish();
  if (!published) co_return fatal(3, published.error());
  owners_.spawn("CNI configuration", manager_->follow());
  co_return std::nullopt;
}

// Fail closed: without the file the runtime would start pods on the primary network alone, so it
// stays unless the user wants the original's way (pain 3).
void Daemon::withdraw_configuration() {
  if (!manager_ || !assembly_.config.cleanup_config_on_exit) return;
  if (assembly_.handover.is_taken()) return;
  if (auto removed = manager_->withdraw(); !removed) {
    log_.error("cannot remove the CNI configuration", removed.error());
  }
}

aio::asio::awaitable<void> Daemon::shut_down(int code) {
  const auto deadline = Clock::now() + kLateShims + kRunningRequests;
  if (was_ready_) co_await serve_to_the_last(deadline);
  assembly_.readiness.stop();
  assembly_.stop_own_work();
  // The name first: a client that finds it must be served.
  socket_.reset();
  assembly_.server.stop_accepting();
  const bool is_quiet = co_await finish_requests(deadline);
  const bool is_written = co_await write_last_events();
  if (metrics_server_) metrics_server_->stop();
  owners_.cancel();
  background_.cancel();
  assembly_.devices.cancel();
  const auto last = Clock::now() + kLastTasks;
  const auto released = co_await owners_.join(last);
  auto joined = co_await background_.join(last);
  if (joined) joined = co_await assembly_.devices.wait_ended(last);
  withdraw_configuration();
  log_.verbatim(LogLevel::kVerbose, "multus daemon is exited");
  // Whatever still runs refers to objects of this function: the process ends around it.
  if (!is_quiet || !is_written || !released || !joined) std::_Exit(code);
}

// Shims that found us ready a moment ago still get through. Later ones wait for the next daemon. If
// none comes, none will before this one ends: we serve those, and go on for as long as a slow
// request keeps us.
aio::asio::awaitable<void> Daemon::serve_to_the_last(aio::Deadline deadline) {
  const auto begun = Clock::now();
  co_await stay_until(begun + kWaitForNext);
  assembly_.readiness.resume();
  co_await stay_until(begun + kLateShims);
  const std::uint64_t seen = assembly_.arrivals.count();
  while (assembly_.arrivals.serves_among(seen) && Clock::now() < deadline && may_stay()) {
    co_await stay_until(Clock::now() + kLookAtRequests);
  }
}

bool Daemon::may_stay() const { return !hurry_.is_set() && !assembly_.handover.is_taken(); }

aio::asio::awaitable<void> Daemon::stay_until(aio::Deadline end) {
  while (may_stay() && Clock::now() < end) (void)co_await change_.wait(end);
}

aio::asio::awaitable<bool> Daemon::write_last_events() {
  if (assembly_.objects.failure()) co_return true;
  const auto deadline = Clock::now() + kLastEvents;
  const bool has_ended = co_await assembly_.statuses.finish(deadline - kLastEvents / 2);
  const auto written = co_await assembly_.objects.flush(deadline);
  if (!written) log_.error("the last events were not written", written.error());
  co_return (has_ended && written.has_value());
}

// Whether all requests and replays have ended. A second signal leaves them less time whenever it
// comes.
aio::asio::awaitable<bool> Daemon::finish_requests(aio::Deadline deadline) {
  bool hurries = false;
  while (assembly_.server.open_connections() > 0 || replays_.size() > 0) {
    if (hurry_.is_set() && !std::exchange(hurries, true)) {
      deadline = std::min(deadline, Clock::now() + kRunningRequestsInAHurry);
    }
    if (Clock::now() >= deadline) break;
    (void)co_await change_.wait(std::min(deadline, Clock::now() + kLookAtRequests));
  }
  const auto drained = co_await assembly_.server.drain(deadline);
  const auto replayed = co_await replays_.join(deadline);
  if (drained && replayed) co_return true;
  log_.error("requests did not end in time and are cancelled");
  replays_.cancel();
  const auto last = Clock::now() + kLastMoment;
  const auto cut = co_await assembly_.server.drain(last);
  const auto ended = co_await replays_.join(last);
  co_return (cut && ended);
}

int Daemon::fatal(int code, const Error& why) const {
  log_.verbatim(LogLevel::kPanic, why.text());
  if (!logging_.to_stderr) sys::print(STDERR_FILENO, cat("multus-daemon: ", why.text()));
  return code;
}

}  // namespace mnet::daemon
