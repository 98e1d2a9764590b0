#include "kube/reflector.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "aio/cancel.h"
#include "aio/task.h"
#include "aio/timer.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/origin_client.h"
#include "json/json.h"
#include "kube/api.h"
#include "kube/backoff.h"
#include "kube/list_reader.h"
#include "kube/objects.h"
#include "kube/reply.h"
#include "kube/store.h"
#include "kube/watch_event.h"

namespace mnet::kube {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::string_view kInitialEnd = "k8s.io/initial-events-end";
constexpr std::size_t kMaxRefusal = 256u << 10;

}  // namespace

Reflector::Reflector(Api& api, ReflectorSettings settings, Sink& sink, Log log, Random random,
                     aio::Timer& timer)
    : api_(api),
      settings_(std::move(settings)),
      sink_(sink),
      log_(std::move(log)),
      random_(random),
      backoff_(settings_.first_pause, settings_.longest_pause, std::move(random)),
      timer_(timer) {}

aio::Task<void> Reflector::wait_synced(aio::Deadline deadline) {
  co_return co_await synced_.wait(deadline);
}

std::optional<Clock::duration> Reflector::down_for() const {
  if (!down_since_) return std::nullopt;
  return Clock::now() - *down_since_;
}

Clock::duration Reflector::silent_for() const { return Clock::now() - heard_at_; }

aio::Task<void> Reflector::run() {
  heard_at_ = Clock::now();
  down_since_ = heard_at_;
  for (;;) {
    auto outcome = co_await round();
    const bool is_over = co_await aio::cancelled();
    if (is_over) co_return aio::cancelled_error();
    if (!outcome) co_return std::move(outcome).error();
    if (outcome->next == Outcome::Next::kGoOn) continue;

    ++counters_.failures;
    if (!outcome->why.empty()) complain(outcome->why);
    MNET_CO_TRY_VOID(co_await timer_.sleep_for(backoff_.next(outcome->at_least)));
  }
}

aio::Task<Reflector::Outcome> Reflector::round() {
  if (position_.empty() && refuses_streams_) {
    auto listed = co_await list();
    if (!listed || position_.empty()) co_return listed;
  }
  co_return co_await watch();
}

aio::Task<Reflector::Outcome> Reflector::list() {
  sink_.begin();
  std::string query = list_query();
  for (bool is_first = true;; is_first = false) {
    ListEnd end;
    auto page = co_await list_page(query, &end);
    if (page && page->is_gone && !is_first) wants_whole_ = true;
    if (!page || page->next == Outcome::Next::kPause) co_return page;
    if (end.continuation.empty()) {
      finish_list(end.resource_version);
      co_return page;
    }
    if (seen_.empty() && !wants_newest_) has_no_cache_ = true;
    query = cat("limit=", settings_.page, "&continue=", query_value(end.continuation));
  }
}

// As client-go asks. The first time anything will do: "0" is whatever the server has in memory, and
// costs its storage nothing. Later nothing that is older than what we have told: a server may be
// behind the one before it. Only without a limit that, too, comes from memory. What is in storage
// is always new enough, but 5,000 nodes must not ask for that without need.
std::string Reflector::list_query() const {
  if (wants_newest_) return cat("limit=", wants_whole_ ? 0 : settings_.page);
  if (seen_.empty()) return cat("limit=", settings_.page, "&resourceVersion=0");
  return cat(has_no_cache_ ? cat("limit=", settings_.page, "&") : "",
             "resourceVersion=", query_value(seen_), "&resourceVersionMatch=NotOlderThan");
}

aio::Task<Reflector::Outcome> Reflector::list_page(std::string query, ListEnd* end) {
  const aio::Deadline deadline = Clock::now() + settings_.list_time;
  auto stream = co_await api_.open(collection(query), deadline);
  if (!stream) co_return pause(stream.error().text());
  http::ResponseStream* const answer = stream->get();
  if (answer->status() != 200) {
    co_return co_await refused(answer);
  }
  ListReader reader;
  for (;;) {
    auto bytes = co_await answer->read(deadline);
    if (!bytes) co_return pause(bytes.error().text());
    if (bytes->empty()) break;
    if (auto put = reader.put(*bytes); !put) co_return pause(put.error().text());
    while (const auto item = reader.next_item()) take_item(*item);
  }
  counters_.skipped += reader.skipped();
  auto ended = reader.finish();
  if (!ended) co_return pause(ended.error().text());
  *end = *std::move(ended);
  co_return Outcome();
}

void Reflector::take_item(const std::string& text) {
  const auto object = json::parse_object(text);
  const bool is_taken = object && sink_.add(*object);
  if (is_taken) return;
  ++counters_.skipped;
  complain("an object of the list cannot be read");
}

void Reflector::finish_list(std::string position) {
  sink_.commit();
  position_ = std::move(position);
  wants_newest_ = wants_whole_ = false;
  ++counters_.lists;
  synced_.set();
}

std::string Reflector::collection(std::string_view query) const {
  std::string path = cat(settings_.path, "?", query);
  if (!settings_.field_selector.empty()) {
    path += cat("&fieldSelector=", query_value(settings_.field_selector));
  }
  return path;
}

std::string Reflector::watch_path() {
  const int span = settings_.longest_watch - settings_.shortest_watch;
  const int seconds = settings_.shortest_watch + static_cast<int>(random_() * span);
  std::string query = cat("watch=true&allowWatchBookmarks=true&timeoutSeconds=", seconds);
  if (position_.empty()) {
    query += "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    const std::string oldest = oldest_allowed();
    if (!oldest.empty()) query += cat("&resourceVersion=", query_value(oldest));
  } else {
    query += cat("&resourceVersion=", query_value(position_));
  }
  return collection(query);
}

aio::Task<Reflector::Outcome> Reflector::watch() {
  is_collecting_ = position_.empty();
  if (is_collecting_) sink_.begin();
  const auto began = Clock::now();
  auto stream = co_await api_.open(watch_path(), began + settings_.open_time);
  if (!stream) {
    // Who comes back may be another version, which knows how to stream.
    refuses_streams_ = false;
    co_return pause(stream.error().text());
  }
  if ((*stream)->status() != 200) {
    co_return co_await refused(stream->get());
  }
  ++counters_.streams;
  down_since_.reset();
  listening_since_ = Clock::now();
  auto outcome = co_await read_events(stream->get());
  down_since_ = Clock::now();
  if (!is_collecting_ && Clock::now() - listening_since_ >= settings_.healthy) {
    backoff_.reset();
    was_gone_ = false;
  }
  const bool is_short = Clock::now() - began < settings_.shortest;
  if (outcome && outcome->next == Outcome::Next::kGoOn && is_short && !position_.empty() &&
      !is_collecting_) {
    co_return pause("the watch ended at once");
  }
  co_return outcome;
}

aio::Task<Reflector::Outcome> Reflector::read_events(http::ResponseStream* stream) {
  LineSplitter lines;
  const auto identity = co_await api_.identity();
  for (;;) {
    const auto patience = is_collecting_ ? settings_.initial_silence : settings_.silence;
    auto bytes = co_await stream->read(Clock::now() + patience);
    if (!bytes && bytes.error().code() == Errc::kTimeout) {
      if (is_collecting_) co_return stream_is_refused("its end never came");
      co_return Outcome();  // a watch that is silent for so long may be dead: another goes on there
    }
    if (!bytes) co_return pause(bytes.error().text());
    if (bytes->empty()) break;
    heard_at_ = Clock::now();
    lines.put(*bytes);
    while (const auto line = lines.next()) {
      if (auto outcome = take(*line)) co_return *std::move(outcome);
    }
    const auto outdated = co_await is_outdated(identity.value_or(0));
    if (outdated && *outdated) co_return Outcome();
  }
  if (is_collecting_) co_return stream_is_refused("it ended early");
  co_return Outcome();
}

aio::Task<bool> Reflector::is_outdated(std::uint64_t identity) {
  if (is_collecting_) co_return false;  // it would have to begin anew
  auto now = co_await api_.identity();
  co_return now && *now != identity;
}

std::optional<Reflector::Outcome> Reflector::take(const LineSplitter::Line& line) {
  if (line.is_too_long) return take_bad_frame("an event is too large");
  auto event = parse_watch_event(line.text);
  if (!event) return take_bad_frame(event.error().text());
  return take_event(*event);
}

std::optional<Reflector::Outcome> Reflector::take_event(const WatchEvent& event) {
  if (event.type == EventType::kError) {
    const Status status = parse_status(500, json::dump(event.object));
    const bool is_passing = status.code == 429 || status.code == 503;
    if (is_collecting_ && !is_gone(status) && !status.is_version_too_large && !is_passing) {
      return stream_is_refused(status.message);
    }
    return take_refusal(status);
  }
  if (event.type != EventType::kBookmark) {
    if (auto taken = take_object(event); !taken) return take_bad_frame(taken.error().text());
  }
  std::string version = resource_version_of(event.object);
  if (version.empty()) return take_bad_frame("an event without a version");
  if (!is_collecting_) {
    position_ = std::move(version);
  } else if (event.type == EventType::kBookmark) {
    const std::string* ends = annotation_of(event.object, kInitialEnd);
    if (ends != nullptr && *ends == "true") {
      is_collecting_ = false;
      listening_since_ = Clock::now();
      finish_list(std::move(version));
    }
  }
  return std::nullopt;
}

Result<void> Reflector::take_object(const WatchEvent& event) {
  if (is_collecting_) return sink_.add(event.object);
  if (event.type == EventType::kDeleted) return sink_.remove(event.object);
  return sink_.upsert(event.object);
}

// Bytes may have been damaged on the way: the first time the watch is made anew. An object that is
// itself the cause would hold us up for ever: the second time it is skipped.
std::optional<Reflector::Outcome> Reflector::take_bad_frame(std::string why) {
  const std::string here = is_collecting_ ? "initial" : position_;
  if (bad_position_ == here) {
    ++counters_.skipped;
    complain(cat("skipped: ", why));
    return std::nullopt;
  }
  bad_position_ = here;
  return pause(std::move(why));
}

aio::Task<Reflector::Outcome> Reflector::refused(http::ResponseStream* stream) {
  const int code = stream->status();
  const auto wait = parse_retry_after(stream->headers());
  auto body = co_await http::read_whole(stream, kMaxRefusal, Clock::now() + settings_.open_time);
  Status status = parse_status(code, body ? *body : "");
  status.code = code;
  if (wait) status.retry_after = wait;
  if (is_collecting_ && (code == 400 || code == 422)) co_return stream_is_refused(status.message);
  co_return take_refusal(status);
}

Reflector::Outcome Reflector::take_refusal(const Status& status) {
  if (is_gone(status) || status.is_version_too_large) return start_over(status);
  Outcome outcome = pause(error_of(status).text());
  outcome.at_least = status.retry_after;
  return outcome;
}

// The list, or the place in it, is too old for the server, or the server's state is older than it.
// What we have is still served. All nodes may be told so at once, and a server may say so each
// time: there is a pause before each new list, however well the one before it went.
Reflector::Outcome Reflector::start_over(const Status& status) {
  log_.verbose(cat(settings_.path, ": starting over: ", status.message));
  wants_newest_ = position_.empty();
  if (!position_.empty()) seen_ = std::exchange(position_, {});
  // Once is how a long silence ends; more than that is trouble.
  const bool is_trouble = std::exchange(was_gone_, true);
  return {.next = Outcome::Next::kPause,
          .why = is_trouble ? cat("it begins anew each time: ", error_of(status).text()) : "",
          .at_least = status.retry_after,
          .is_gone = true};
}

Reflector::Outcome Reflector::stream_is_refused(std::string_view why) {
  log_.verbose(cat(settings_.path, ": no streamed list, reading pages: ", why));
  refuses_streams_ = true;
  is_collecting_ = false;
  return {};
}

void Reflector::complain(const std::string& what) {
  const auto now = Clock::now();
  if (what == last_complaint_ && now - complained_at_ < settings_.complaint) return;
  last_complaint_ = what;
  complained_at_ = now;
  log_.error(cat("watching ", settings_.path, ": ", what));
}

}  // namespace mnet::kube
