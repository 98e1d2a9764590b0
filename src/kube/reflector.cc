#include "kube/reflector.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "aio/cancel.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
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

Reflector::Reflector(Api& api, ReflectorSettings settings, Sink& sink, Log log, Random random)
    : api_(api),
      settings_(std::move(settings)),
      sink_(sink),
      log_(std::move(log)),
      random_(random),
      backoff_(settings_.first_pause, settings_.longest_pause, std::move(random)) {}

aio::Task<void> Reflector::wait_synced(aio::Deadline deadline) {
  auto waited = co_await synced_.wait(deadline);
  co_return waited;
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
    complain(outcome->why);
    auto wait = backoff_.next();
    if (outcome->at_least) wait = std::max<Backoff::Time>(wait, *outcome->at_least);
    auto slept = co_await aio::sleep_for(wait);
    if (!slept) co_return slept;
  }
}

aio::Task<Reflector::Outcome> Reflector::round() {
  if (position_.empty() && refuses_streams_) {
    auto listed = co_await list();
    if (!listed || position_.empty()) co_return listed;
  }
  auto watched = co_await watch();
  co_return watched;
}

aio::Task<Reflector::Outcome> Reflector::list() {
  sink_.begin();
  // "0" is whatever the server has in memory, and costs its storage nothing.
  std::string query = cat("limit=", settings_.page);
  if (!wants_newest_) query += "&resourceVersion=0";
  for (;;) {
    ListEnd end;
    auto page = co_await list_page(query, &end);
    if (!page || page->next == Outcome::Next::kPause) co_return page;
    if (end.resource_version.empty()) co_return page;  // expired: from the beginning
    if (end.continuation.empty()) {
      finish_list(end.resource_version);
      co_return page;
    }
    query = cat("limit=", settings_.page, "&continue=", query_value(end.continuation));
  }
}

aio::Task<Reflector::Outcome> Reflector::list_page(std::string query, ListEnd* end) {
  const aio::Deadline deadline = Clock::now() + settings_.list_time;
  auto stream = co_await api_.open(collection(query), deadline);
  if (!stream) co_return pause(stream.error());
  http::ResponseStream* const answer = stream->get();
  if (answer->status() != 200) {
    auto outcome = co_await refused(answer);
    co_return outcome;
  }
  ListReader reader;
  for (;;) {
    auto bytes = co_await answer->read(deadline);
    if (!bytes) co_return pause(bytes.error());
    if (bytes->empty()) break;
    if (auto put = reader.put(*bytes); !put) co_return pause(put.error());
    while (const auto item = reader.next_item()) take_item(*item);
  }
  counters_.skipped += reader.skipped();
  auto ended = reader.finish();
  if (!ended) co_return pause(ended.error());
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
  wants_newest_ = false;
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
    co_return pause(stream.error());
  }
  if ((*stream)->status() != 200) {
    auto outcome = co_await refused(stream->get());
    co_return outcome;
  }
  ++counters_.streams;
  down_since_.reset();
  auto outcome = co_await read_events(stream->get());
  down_since_ = Clock::now();
  if (Clock::now() - began >= settings_.healthy) backoff_.reset();
  const bool is_short = Clock::now() - began < settings_.shortest;
  if (outcome && outcome->next == Outcome::Next::kGoOn && is_short && !position_.empty() &&
      !is_collecting_) {
    co_return Outcome{Outcome::Next::kPause, "the watch ended at once", {}};
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
    if (!bytes) co_return pause(bytes.error());
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
    if (is_collecting_ && !is_gone(status) && status.code != 429 && status.code != 503) {
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
  return Outcome{Outcome::Next::kPause, std::move(why), {}};
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
  if (is_gone(status)) {
    // The list, or the place in it, is too old. What we have is still served.
    log_.verbose(cat(settings_.path, ": starting over: ", status.message));
    const bool is_news = !position_.empty() || !wants_newest_;
    wants_newest_ = position_.empty();
    position_.clear();
    if (is_news) return {};
  }
  return {Outcome::Next::kPause, error_of(status).text(), status.retry_after};
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
