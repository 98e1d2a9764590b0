#include "daemon/pending_del_replay.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/cancel.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "attach/request.h"
#include "base/backoff.h"
#include "base/error.h"
#include "base/error_list.h"
#include "base/log.h"
#include "base/reading.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/slots.h"
#include "daemon/request.h"
#include "store/pending_dels.h"
#include "store/store.h"
#include "sys/file.h"
#include "wire/wire.h"

namespace mnet::daemon {
namespace {

constexpr auto kLongestPause = std::chrono::minutes(10);
// For how long the DEL of a failed ADD is tried: each retry of the kubelet makes another, for as
// long as the pod exists.
constexpr auto kFailedAddEnds = std::chrono::minutes(10);
// After so many failures in this daemon the next try is the last: the file's age alone is by a
// clock that may be set.
constexpr int kFailedAddTries = 4;
// Of the reason of the last failure, for people: a plugin chooses how long it is, and thousands of
// DELs may fail.
constexpr std::size_t kMostOfWhy = 1024;

// Whether there may be such a file: also true if that is not known.
bool may_be_there(std::string_view cni_dir, std::string_view file) {
  const std::string path = cat(store::pending_del_directory(cni_dir), "/", file);
  return ::access(path.c_str(), F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

}  // namespace

PendingDelReplay::PendingDelReplay(PendingDelReplayNeeds needs, Log log)
    : needs_(std::move(needs)), log_(std::move(log)), queue_(needs_.at_once) {}

PendingDelReplay::Hold::Hold(PendingDelReplay& owner, PendingKey key)
    : owner_(owner), key_(std::move(key)) {
  owner_.held_.insert(key_);
}

PendingDelReplay::Hold::~Hold() { owner_.held_.extract(key_); }

bool PendingDelReplay::may_have(const PendingKey& key) const {
  return may_be_there(key.cni_dir, store::pending_del_file(key.container_id, key.ifname));
}

// Container and interface are those of the contents: two pairs may share a file name.
Result<CniCall> PendingDelReplay::read(const Record& record) const {
  if (!record.body) return record.body.error();
  MNET_TRY(auto&& call, read_cni_call(*record.body, needs_.rules, needs_.next_arrival(), log_));
  if (call.verb != attach::Verb::kDel) {
    return Error(Errc::kInvalid, cat("the command is not DEL but ", go_quoted(call.call.command)));
  }
  if (call.request) {
    call.request->pending_body.clear();
    call.request->rule = needs_.rule;
  }
  return std::move(call);
}

aio::Task<PendingDelReplay::Found> PendingDelReplay::find(PendingKey key) {
  MNET_CO_TRY(auto&& record, co_await needs_.pool.run([key] {
    return store::PendingDels(key.cni_dir).find(key.container_id, key.ifname);
  }));
  if (!record) co_return Found();
  auto call = read(*record);
  if (!call) co_return std::move(call).error().wrap(record->file);
  const wire::Call& said = call->call;
  if (said.container_id != key.container_id || said.ifname != key.ifname) co_return Found();
  co_return Found({record->file, *std::move(call)});
}

aio::Task<void> PendingDelReplay::replay(PendingKey key, Log log) {
  auto found = co_await find(key);
  if (!found) {
    if (!is_damage(found.error())) co_return std::move(found).error();
    log.error("ADD continues despite a damaged pending DEL", found.error());
    co_return Result<void>();
  }
  if (!*found) co_return Result<void>();
  auto& [file, call] = **found;
  log.verbose(cat("ADD runs the pending DEL ", file, " first"));
  Result<void> deleted;
  if (call.request) {
    const auto outcome = co_await needs_.core.del(*std::move(call.request));
    deleted = attach::complete(outcome);
  } else {
    deleted = call.request.error();
  }
  needs_.metrics.count_replay(deleted.has_value());
  if (!deleted) {
    log.error(cat("ADD continues after the failed pending DEL ", file), deleted.error());
    co_return Result<void>();
  }
  co_return co_await remove(key.cni_dir, std::move(file));
}

aio::Task<void> PendingDelReplay::forget(PendingKey key) {
  MNET_CO_TRY(auto&& found, co_await find(key));
  if (!found) co_return Result<void>();
  co_return co_await remove(key.cni_dir, found->first);
}

// The body names container and pod.
PendingDelReplay::Waiting PendingDelReplay::describe_one(const std::string& cni_dir,
                                                         const Record& record) const {
  Waiting out{.cni_dir = cni_dir, .file = record.file, .written = record.written};
  const auto request = record.body ? wire::parse_request(*record.body) : record.body.error();
  const auto call = request ? wire::extract_call(*request) : request.error();
  if (!call) {
    out.why = call.error().text();
    return out;
  }
  out.container_id = call->container_id;
  out.ifname = call->ifname;
  if (auto pod = wire::pod_identity(call->args, {.lenient = true, .required = false})) {
    out.pod_ns = std::move(pod->ns);
    out.pod_name = std::move(pod->name);
  }
  const auto retry = retries_.find({cni_dir, record.file});
  if (retry == retries_.end()) return out;
  out.why = retry->second.why;
  out.next = std::max(std::chrono::ceil<std::chrono::seconds>(retry->second.next -
                                                              std::chrono::steady_clock::now()),
                      std::chrono::seconds(0));
  return out;
}

aio::Task<PendingDelReplay::Listing> PendingDelReplay::describe(std::string start) {
  Listing listing;
  const auto directories = directories_;
  for (const std::string& directory : directories) {
    MNET_CO_TRY(const auto& files, co_await needs_.pool.run([directory] {
      return store::PendingDels(directory).list_files();
    }));
    for (const std::string& file : files) {
      if (!file.starts_with(start)) continue;
      if (listing.records.size() == kMostListed) {
        ++listing.left_out;
        continue;
      }
      MNET_CO_TRY(const auto& record, co_await needs_.pool.run([directory, file] {
        return store::PendingDels(directory).read(file);
      }));
      if (record) listing.records.push_back(describe_one(directory, *record));
    }
  }
  co_return std::move(listing);
}

aio::Task<void> PendingDelReplay::retry(std::string cni_dir, std::string file) {
  MNET_CO_TRY(auto&& record, co_await needs_.pool.run([cni_dir, file] {
    return store::PendingDels(cni_dir).read(file);
  }));
  if (!record)
    co_return Error(Errc::kNotFound, cat("the pending DEL ", file, " does not exist any more"));
  auto call = read(*record);
  MNET_CO_TRY(const Ended ended,
              co_await replay_record(cni_dir, *std::move(record), std::move(call)));
  switch (ended) {
    case Ended::kDeleted:
      co_return Result<void>();
    case Ended::kKept: {
      const auto failed = retries_.find({cni_dir, file});
      co_return Error(Errc::kPlugin, failed == retries_.end()
                                         ? "it failed; the daemon's log says why"
                                         : failed->second.why);
    }
    case Ended::kAbandoned:
      co_return Error(
          Errc::kPlugin,
          "it cannot succeed and is no longer tried; the daemon's log says why, and what "
          "to free by hand");
    case Ended::kNotNow:
      break;
  }
  co_return Error(Errc::kUnavailable,
                  "an ADD of the same container runs, or the daemon stops; try again");
}

aio::Task<void> PendingDelReplay::drop(std::string cni_dir, std::string file) {
  MNET_CO_TRY(const bool was_there, co_await needs_.pool.run([cni_dir, file] {
    return store::PendingDels(cni_dir).remove(file);
  }));
  if (!was_there)
    co_return Error(Errc::kNotFound, cat("the pending DEL ", file, " does not exist any more"));
  if (count_ > 0) --count_;
  retries_.erase({cni_dir, file});
  log_.warning(cat("the pending DEL ", file, " was given up by hand"));
  co_return Result<void>();
}

aio::Task<void> PendingDelReplay::remove(std::string cni_dir, std::string file) {
  MNET_CO_TRY(const bool was_there, co_await needs_.pool.run([cni_dir, file] {
    return store::PendingDels(cni_dir).remove(file);
  }));
  if (was_there && count_ > 0) --count_;  // until they are listed again
  co_return Result<void>();
}

aio::Task<void> PendingDelReplay::run(std::chrono::milliseconds period) {
  first_pause_ = period;
  std::vector<aio::Task<void>> beside;
  beside.push_back(list_again(period));
  co_return co_await work_side_by_side(std::move(beside), false);
}

aio::Task<void> PendingDelReplay::work_side_by_side(std::vector<aio::Task<void>> tasks,
                                                    bool is_drain) {
  for (std::size_t i = 0; i < needs_.at_once; ++i) tasks.push_back(work(is_drain));
  co_await aio::all(std::move(tasks));
  const bool is_cancelled = co_await aio::cancelled();
  if (is_cancelled) co_return aio::cancelled_error();
  co_return Result<void>();
}

aio::Task<void> PendingDelReplay::work(bool is_drain) {
  while (!stopped_) {
    const std::optional<Place> place = queue_.take();
    if (!place) {
      if (is_drain && queue_.is_idle()) break;
      MNET_CO_TRY_VOID(co_await queue_changed_.wait());
      continue;
    }
    const auto done = co_await replay_file(*place);
    queue_.end(*place);
    queue_changed_.notify_all();
    if (done) continue;
    if (done.error().code() == Errc::kCancelled) co_return done.error();
    log_.error("cannot replay a pending DEL", done.error());
  }
  co_return Result<void>();
}

aio::Task<void> PendingDelReplay::list_again(std::chrono::milliseconds period) {
  while (!stopped_) {
    if (wake_.is_set()) try_all_now();
    wake_.reset();
    auto listed = co_await list();
    if (!listed && listed.error().code() == Errc::kCancelled) co_return std::move(listed);
    if (!listed) log_.error("cannot list pending DELs", listed.error());
    auto woken = co_await wake_.wait(next_listing(period));
    if (!woken && woken.error().code() != Errc::kTimeout) co_return std::move(woken);
  }
  co_return Result<void>();
}

aio::Task<std::size_t> PendingDelReplay::drain() {
  MNET_CO_TRY_VOID(co_await list());
  MNET_CO_TRY_VOID(co_await work_side_by_side({}, true));
  std::size_t left = 0;
  const auto directories = directories_;
  for (const std::string& directory : directories) {
    MNET_CO_TRY(const auto& records, co_await needs_.pool.run([directory] {
      return store::PendingDels(directory).list_files();
    }));
    left += records.size();
  }
  co_return left;
}

// The queue has what is due already.
PendingDelReplay::Time PendingDelReplay::next_listing(std::chrono::milliseconds period) const {
  const Time now = std::chrono::steady_clock::now();
  Time next = now + period;
  for (const auto& [place, retry] : retries_) {
    if (retry.next > now) next = std::min(next, retry.next);
  }
  return next;
}

bool PendingDelReplay::is_due(const Place& place) const {
  const auto found = retries_.find(place);
  return found == retries_.end() || found->second.next <= std::chrono::steady_clock::now();
}

void PendingDelReplay::try_all_now() {
  for (auto& [place, retry] : retries_) {
    retry.pauses.reset();
    retry.next = {};
  }
}

bool PendingDelReplay::is_old(const Place& place, const Record& record) const {
  const auto retry = retries_.find(place);
  if (retry == retries_.end() || retry->second.failures < kFailedAddTries) return false;
  return std::chrono::system_clock::now() - record.written >= kFailedAddEnds;
}

bool PendingDelReplay::has_too_many(const std::string& ns) const {
  const auto failing =
      std::ranges::count_if(retries_, [&ns](const auto& one) { return one.second.ns == ns; });
  return static_cast<std::size_t>(failing) > needs_.most_of_namespace;
}

std::chrono::milliseconds PendingDelReplay::put_off(const Place& place, const Error& why) {
  const auto [retry, is_first] = retries_.try_emplace(
      place, Retry{.pauses = Backoff(first_pause_, kLongestPause, random_, kFifth), .next = {}});
  ++retry->second.failures;
  retry->second.why = excerpt(why.text(), kMostOfWhy);
  const auto pause = retry->second.pauses.next();
  retry->second.next = std::chrono::steady_clock::now() + pause;
  return pause;
}

std::chrono::seconds PendingDelReplay::oldest_age() const {
  if (!oldest_) return {};
  const auto age = std::chrono::system_clock::now() - *oldest_;
  return std::max(std::chrono::duration_cast<std::chrono::seconds>(age), std::chrono::seconds(0));
}

void PendingDelReplay::wake() { wake_.set(); }

void PendingDelReplay::stop() {
  stopped_ = true;
  wake_.set();
  queue_changed_.notify_all();
}

// The counts change at the end, so that no scrape sees half of them, and not at all if a directory
// cannot be read.
aio::Task<void> PendingDelReplay::list() {
  Count count;
  const auto directories = directories_;
  ErrorList errors;
  for (const std::string& directory : directories) {
    auto done = co_await list_directory(directory, &count);
    if (!done && done.error().code() == Errc::kCancelled) co_return std::move(done);
    errors.add(std::move(done));
  }
  MNET_CO_TRY_VOID(errors.join("; "));
  count_ = count.records;
  oldest_ = count.oldest;
  co_return Result<void>();
}

aio::Task<void> PendingDelReplay::list_directory(std::string cni_dir, Count* count) {
  using Listed = store::PendingDels::Listed;
  MNET_CO_TRY(const auto& listed,
              co_await needs_.pool.run([cni_dir]() -> Result<std::vector<Listed>> {
                // Files that killed shims left half written (03, 2.14); they can also be swept
                // later.
                (void)store::sweep(cni_dir, sys::kTemporaryAge);
                return store::PendingDels(cni_dir).list();
              }));
  count->records += listed.size();
  // In order of their names, as both are.
  std::erase_if(retries_, [&](const auto& retry) {
    return retry.first.first == cni_dir &&
           !std::ranges::binary_search(listed, retry.first.second, {}, &Listed::file);
  });
  std::vector<std::string> due;
  for (const Listed& one : listed) {
    count->oldest = std::min(count->oldest.value_or(one.written), one.written);
    if (is_due({cni_dir, one.file})) due.push_back(one.file);
  }
  queue_.assign(cni_dir, due);
  queue_changed_.notify_all();
  co_return Result<void>();
}

// Read only now: there may be thousands of them, and tenants choose what is in them.
aio::Task<void> PendingDelReplay::replay_file(Place place) {
  MNET_CO_TRY(auto&& record, co_await needs_.pool.run([place] {
    return store::PendingDels(place.first).read(place.second);
  }));
  if (!record) co_return Result<void>();
  auto call = read(*record);
  const bool is_request = call && call->request;
  if (!queue_.begin(place, is_request ? call->request->pod.ns : std::string())) {
    co_return Result<void>();
  }
  MNET_CO_TRY([[maybe_unused]] const auto& ended,
              co_await replay_record(std::move(place.first), *std::move(record), std::move(call)));
  co_return Result<void>();
}

aio::Task<PendingDelReplay::Ended> PendingDelReplay::replay_record(std::string cni_dir,
                                                                   Record record,
                                                                   Result<CniCall> call) {
  if (call && call->request) {
    co_return co_await replay_request(std::move(cni_dir), std::move(record),
                                      *std::move(call->request));
  }
  if (call) needs_.metrics.count_replay(false);
  co_return co_await keep(std::move(cni_dir), std::move(record.file),
                          call ? call->request.error() : call.error(), log_);
}

aio::Task<PendingDelReplay::Ended> PendingDelReplay::replay_request(std::string cni_dir,
                                                                    Record record,
                                                                    attach::Request request) {
  const bool is_old = this->is_old({cni_dir, record.file}, record);
  const std::string ns = request.pod.ns;
  if (const auto failed = retries_.find({cni_dir, record.file}); failed != retries_.end()) {
    failed->second.ns = ns;
  }
  std::string file = std::move(record.file);
  const PendingKey key{cni_dir, request.container_id, request.ifname};
  chain::SlotRequest turn;
  turn.ticket = request.ticket;
  turn.ns = request.share();
  turn.container_id = request.container_id;
  turn.is_del = true;
  MNET_CO_TRY([[maybe_unused]] const auto& slot, co_await needs_.requests.acquire(std::move(turn)));
  // An ADD of another daemon ends with the removal of this record.
  std::shared_ptr<void> lock;
  if (needs_.locks != nullptr) {
    MNET_CO_TRY(lock, co_await needs_.locks->lock(key.container_id));
  }
  // Looked at last: from here to the container's lock nothing waits, so that an ADD which comes
  // later also runs later, and one that came before holds the key.
  if (stopped_ || held_.contains(key) || !may_be_there(cni_dir, file)) co_return Ended::kNotNow;
  const Log own = log_.with_request(request.id);
  request.log.verbose(cat("replaying the pending DEL ", file));
  attach::Request last_try = is_old ? request : attach::Request();
  const auto outcome = co_await needs_.core.del(std::move(request));
  auto deleted = attach::complete(outcome);
  needs_.metrics.count_replay(deleted.has_value());
  if (deleted) {
    MNET_CO_TRY_VOID(co_await remove(std::move(cni_dir), std::move(file)));
    co_return Ended::kDeleted;
  }
  // Its own configuration is at fault: the daemon's was read at its start.
  if (outcome && outcome->is_unknown) {
    co_return co_await set_aside(std::move(cni_dir), std::move(file), std::move(deleted).error(),
                                 own);
  }
  const bool is_surplus = outcome && is_old && !outcome->is_of_failed_add && has_too_many(ns);
  if (is_surplus) retries_.erase({cni_dir, file});  // others count without it from now on
  if (outcome && is_old && (outcome->is_of_failed_add || is_surplus)) {
    co_return co_await give_up(std::move(cni_dir), std::move(file), std::move(last_try),
                               std::move(deleted).error());
  }
  co_return co_await keep(std::move(cni_dir), std::move(file), std::move(deleted).error(), own);
}

// Plugins that would succeed must not keep what they gave because another one fails: a last try
// runs them all. One that could not read the records has tried nothing.
aio::Task<PendingDelReplay::Ended> PendingDelReplay::give_up(std::string cni_dir, std::string file,
                                                             attach::Request last_try, Error why) {
  const Log log = last_try.log, own = log_.with_request(last_try.id);
  last_try.is_last = true;
  const auto last = co_await needs_.core.del(std::move(last_try));
  if (!last && last.error().code() == Errc::kCancelled) co_return last.error();
  if (!last) co_return co_await keep(std::move(cni_dir), std::move(file), last.error(), own);
  if (last->unreadable) {
    co_return co_await keep(std::move(cni_dir), std::move(file), *last->unreadable, own);
  }
  const bool is_deleted = attach::complete(last).has_value();
  if (!is_deleted) {
    log.error(cat("pending DEL ", file,
                  " is given up: every DEL has failed, and so did its ADD, or more than ",
                  needs_.most_of_namespace,
                  " DELs of its namespace; free by hand what the plugin may hold"),
              why);
  }
  MNET_CO_TRY_VOID(co_await remove(std::move(cni_dir), std::move(file)));
  co_return is_deleted ? Ended::kDeleted : Ended::kAbandoned;
}

// A request that the core refuses will be refused for ever; anything else may pass.
aio::Task<PendingDelReplay::Ended> PendingDelReplay::keep(std::string cni_dir, std::string file,
                                                          Error why, Log log) {
  if (is_damage(why) && !is_try_again(why)) {
    co_return co_await set_aside(std::move(cni_dir), std::move(file), std::move(why),
                                 std::move(log));
  }
  const auto pause = std::chrono::ceil<std::chrono::seconds>(put_off({cni_dir, file}, why));
  log.error(cat("pending DEL ", file, " failed and is tried again in ", pause.count(), " s"), why);
  co_return Ended::kKept;
}

aio::Task<PendingDelReplay::Ended> PendingDelReplay::set_aside(std::string cni_dir,
                                                               std::string file, Error why,
                                                               Log log) {
  MNET_CO_TRY_VOID(co_await needs_.pool.run(
      [cni_dir, file] { return store::PendingDels(cni_dir).set_aside(file); }));
  needs_.metrics.count_bad_record();
  log.error(cat("pending DEL ", store::pending_del_directory(cni_dir), "/", file,
                " is damaged and was set aside"),
            why);
  co_return Ended::kAbandoned;
}

}  // namespace mnet::daemon
