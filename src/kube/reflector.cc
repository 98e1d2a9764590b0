#include "kube/reflector.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "aio/cancel.h"
#include "aio/task.h"
#include "aio/timer.h"
#include "base/backoff.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/origin_client.h"
#include "json/at.h"
#include "json/json.h"
#include "kube/api.h"
#include "kube/list_reader.h"
#include "kube/objects.h"
#include "kube/pages.h"
#include "kube/reply.h"
#include "kube/sink.h"
#include "kube/watch_event.h"

namespace mnet::kube {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::string_view kInitialEnd = "k8s.io/initial-events-end";

// `<namespace>/<name>: <why>`, as far as the object has these.
std::string refusal_of(const json::Object& object, const Error& why) {
  const std::string ns = json::text_at(object, {"metadata", "namespace"});
  const std::string name = json::text_at(object, {"metadata", "name"});
  if (name.empty()) return why.text();
  return cat(excerpt(ns), ns.empty() ? "" : "/", excerpt(name), ": ", why.text());
}

}  // namespace

ReflectorSettings tool_watch(std::string path) {
  using Time = ReflectorSettings::Time;
  return {.path = std::move(path),
          .reads_storage = true,
          .list_time = Time(30'000),
          .first_pause = Time(1000),
          .longest_pause = Time(36'000),
          .jitter = kFifth,
          .healthy = Time(60'000)};
}

Reflector::Reflector(Api& api, ReflectorSettings settings, Sink& sink, Log log, Random random,
                     aio::Timer& timer)
    : api_(api),
      settings_(std::move(settings)),
      sink_(sink),
      log_(std::move(log)),
      random_(random),
      backoff_(settings_.first_pause, settings_.longest_pause, std::move(random), settings_.jitter),
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
    if (outcome->is_unknown && settings_.ends_if_unknown) {
      co_return Error(Errc::kNotFound, outcome->why);
    }
    if (outcome->next == Outcome::Next::kGoOn) continue;
    if (outcome->next == Outcome::Next::kResume) {
      const auto pause = std::chrono::round<ReflectorSettings::Time>(settings_.spread * random_());
      MNET_CO_TRY_VOID(co_await timer_.sleep_for(pause));
      continue;
    }

    ++counters_.failures;
    listened_ = {};
    if (!outcome->why.empty()) {
      is_connected_ = false;
      complain(outcome->why, outcome->is_gone ? "it starts over each time: " : "");
    }
    MNET_CO_TRY_VOID(co_await timer_.sleep_for(backoff_.next(outcome->at_least)));
  }
}

aio::Task<Reflector::Outcome> Reflector::round() {
  // Where an API has no versions, a watch does not tell what was deleted before it began.
  if (position_.empty() && settings_.name.empty()) is_read_ = false;
  if (!is_read_ && !streams_list()) {
    Result<Outcome> listed;
    if (settings_.name.empty()) {
      listed = co_await list();
    } else {
      listed = co_await read_one();
    }
    if (!listed || !is_read_) co_return listed;
  }
  co_return co_await watch();
}

bool Reflector::streams_list() const {
  return settings_.name.empty() && !settings_.reads_storage && !refuses_streams_;
}

aio::Task<Reflector::Outcome> Reflector::read_one() {
  auto reply = co_await api_.call({.path = cat(settings_.path, "/", query_value(settings_.name))},
                                  Clock::now() + settings_.list_time);
  if (!reply) co_return pause(reply.error().text());
  const bool is_absent = reply->status == 404;
  if (!is_absent && !reply->ok()) {
    Status status = parse_status(reply->status, reply->body);
    status.retry_after = reply->retry_after;
    co_return take_refusal(status);
  }
  sink_.begin();
  std::string version;
  if (!is_absent) {
    const auto object = json::parse_object_without(settings_.unused, reply->body);
    if (!object) co_return pause(object.error().text());
    version = resource_version_of(*object);
    if (auto added = sink_.add(*object); !added) co_return pause(added.error().text());
  }
  finish_list(std::move(version));
  if (is_absent) sink_.absent();
  co_return Outcome();
}

aio::Task<Reflector::Outcome> Reflector::list() {
  sink_.begin();
  std::string query = list_query();
  Pages pages;
  for (bool is_first = true;; is_first = false) {
    ListEnd end;
    auto page = co_await list_page(query, &end);
    if (page && page->is_gone && !is_first) wants_whole_ = true;
    if (!page || page->next == Outcome::Next::kPause) co_return page;
    const auto more = pages.go_on(end.continuation);
    if (!more) co_return pause(more.error().text());
    if (!*more) {
      finish_list(end.resource_version);
      co_return page;
    }
    if (seen_.empty() && !wants_newest_) has_no_cache_ = true;
    query = cat("limit=", settings_.page, selectors(), "&continue=", query_value(end.continuation));
  }
}

// As client-go asks. The first time anything will do: "0" is whatever the server has in memory, and
// costs its storage nothing. Later nothing that is older than what we have told: a server may be
// behind the one before it. Only without a limit that, too, comes from memory. What is in storage
// is always new enough, but 5,000 nodes must not ask for that without need.
std::string Reflector::list_query() const {
  if (wants_newest_ || settings_.reads_storage) {
    return cat("limit=", wants_whole_ ? 0 : settings_.page, selectors());
  }
  if (seen_.empty()) return cat("limit=", settings_.page, "&resourceVersion=0", selectors());
  return cat(has_no_cache_ ? cat("limit=", settings_.page, "&") : "",
             "resourceVersion=", query_value(seen_), "&resourceVersionMatch=NotOlderThan",
             selectors());
}

aio::Task<Reflector::Outcome> Reflector::list_page(std::string query, ListEnd* end) {
  const aio::Deadline deadline = Clock::now() + settings_.list_time;
  auto stream = co_await api_.open(cat(settings_.path, "?", query), deadline);
  if (!stream) co_return pause(stream.error().text());
  http::ResponseStream* const answer = stream->get();
  if (answer->status() != 200) {
    co_return co_await refused(answer);
  }
  ListReader reader(settings_.largest);
  for (;;) {
    auto bytes = co_await answer->read(deadline);
    if (!bytes) co_return pause(bytes.error().text());
    if (bytes->empty()) break;
    if (auto put = reader.put(*bytes); !put) co_return pause(put.error().text());
    while (auto item = reader.next_item()) take_item(*std::move(item));
  }
  counters_.skipped += reader.skipped();
  auto ended = reader.finish();
  if (!ended) co_return pause(ended.error().text());
  *end = *std::move(ended);
  co_return Outcome();
}

// A text may have a megabyte: it goes before the sink makes its own copy.
void Reflector::take_item(std::string text) {
  const auto object = json::parse_object_without(settings_.unused, text);
  std::string().swap(text);
  const auto taken = object ? sink_.add(*object) : Result<void>(object.error());
  if (taken) return;
  ++counters_.skipped;
  const std::string why = object ? refusal_of(*object, taken.error()) : taken.error().text();
  complain("an object of the list cannot be read and is skipped", cat(why, ": "));
}

void Reflector::finish_list(std::string position) {
  connected();
  sink_.commit();
  is_read_ = true;
  position_ = std::move(position);
  bad_position_.reset();
  wants_newest_ = wants_whole_ = false;
  ++counters_.lists;
  synced_.set();
}

std::string Reflector::selectors() const {
  std::string out;
  const auto add = [&out](std::string_view key, std::string_view value) {
    if (!value.empty()) out += cat("&", key, "=", query_value(value));
  };
  add("fieldSelector",
      settings_.name.empty() ? settings_.field_selector : cat("metadata.name=", settings_.name));
  add("labelSelector", settings_.label_selector);
  return out;
}

std::string Reflector::watch_path() {
  const int span = settings_.longest_watch - settings_.shortest_watch;
  const int seconds = settings_.shortest_watch + static_cast<int>(random_() * span);
  // Chapter 03 writes `watch=true`, chapter 04 `watch=1`.
  const std::string_view yes = settings_.reads_storage ? "1" : "true";
  std::string path = cat(settings_.path, "?watch=", yes,
                         "&allowWatchBookmarks=true&timeoutSeconds=", seconds, selectors());
  if (!is_read_) path += "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
  const std::string from = is_read_ ? position_ : oldest_allowed();
  if (!from.empty()) path += cat("&resourceVersion=", query_value(from));
  return path;
}

aio::Task<Reflector::Outcome> Reflector::watch() {
  is_collecting_ = !is_read_;
  if (is_collecting_) sink_.begin();
  const auto began = Clock::now();
  auto stream = co_await api_.open(watch_path(), began + settings_.open_time);
  if (!stream) {
    // The server may come back as another version, which can stream.
    refuses_streams_ = false;
    co_return pause(stream.error().text());
  }
  if ((*stream)->status() != 200) {
    co_return co_await refused(stream->get());
  }
  ++counters_.streams;
  connected();
  down_since_.reset();
  listening_since_.reset();
  if (is_read_) listening_since_ = Clock::now();
  auto outcome = co_await read_events(stream->get());
  down_since_ = Clock::now();
  if (!outcome) co_return outcome;
  co_return after_watch(*std::move(outcome), Clock::now() - began);
}

// Load balancers cut connections that live, or are idle, for longer than they like, and all of them
// when they restart: that is not a failure of the server, and the place in the stream is known.
Reflector::Outcome Reflector::after_watch(Outcome outcome, Clock::duration lived) {
  if (!listening_since_) return outcome;  // the list is to be read again, which is not cheap
  listened_ += Clock::now() - *listening_since_;
  if (listened_ >= settings_.healthy) {
    backoff_.reset();
    was_gone_ = false;
  }
  const bool is_short = lived < settings_.shortest;
  const bool was_short = std::exchange(was_short_, is_short);
  if (outcome.is_cut && !is_short) {
    log_.verbose(cat(settings_.path, ": the watch was cut, another one resumes: ", outcome.why));
    return {.next = Outcome::Next::kResume};
  }
  if (outcome.next != Outcome::Next::kGoOn) return outcome;
  // A server, or a proxy before it, that ends every watch at once must not be asked in a circle,
  // whatever it says before that.
  if (is_short && was_short)
    return pause("the server, or a proxy before it, ends each watch within a second");
  return {.next = Outcome::Next::kResume};
}

aio::Task<Reflector::Outcome> Reflector::read_events(http::ResponseStream* stream) {
  LineSplitter lines(settings_.largest);
  const auto identity = co_await api_.identity();
  for (;;) {
    const auto silence = is_collecting_ ? settings_.initial_silence : settings_.silence;
    auto bytes = co_await stream->read(Clock::now() + silence);
    if (!bytes && is_collecting_ && bytes.error().code() == Errc::kTimeout) {
      co_return stream_is_refused("the stream fell silent before its end");
    }
    if (!bytes) {
      Outcome cut = pause(bytes.error().text());
      cut.is_cut = true;
      co_return cut;
    }
    if (bytes->empty()) break;
    heard_at_ = Clock::now();
    lines.put(*bytes);
    while (auto line = lines.next()) {
      if (auto outcome = take(*std::move(line))) co_return *std::move(outcome);
    }
    const auto outdated = co_await is_outdated(identity.value_or(0));
    if (outdated && *outdated) co_return Outcome();
  }
  if (is_collecting_) co_return stream_is_refused("the stream was closed before its end");
  co_return Outcome();
}

aio::Task<bool> Reflector::is_outdated(std::uint64_t identity) {
  if (is_collecting_) co_return false;  // it would have to start over
  auto now = co_await api_.identity();
  co_return now && *now != identity;
}

std::optional<Reflector::Outcome> Reflector::take(LineSplitter::Line line) {
  if (line.is_too_long && settings_.largest < kMaxFrame) {
    ++counters_.skipped;
    return std::nullopt;
  }
  if (line.is_too_long)
    return take_bad_frame(cat("an event has more than ", settings_.largest, " bytes"));
  auto event = parse_watch_event(line.text, settings_.unused);
  std::string().swap(line.text);
  if (event) return take_event(*event);
  if (event.error().code() == Errc::kNotFound) return std::nullopt;  // an event of a type to come
  return take_bad_frame(event.error().text());
}

std::optional<Reflector::Outcome> Reflector::take_event(const WatchEvent& event) {
  if (event.type == EventType::kError) {
    const Status status = parse_status(500, json::dump(event.object));
    const bool is_passing = status.code == 429 || status.code == 503;
    if (is_collecting_ && !is_gone(status) && !status.is_version_too_large && !is_passing) {
      return stream_is_refused(status.message);
    }
    Outcome outcome = take_refusal(status);
    // Whatever it was, the position may be the cause (04, 2.2).
    if (settings_.reads_storage) is_read_ = false;
    return outcome;
  }
  if (event.type != EventType::kBookmark) {
    if (auto taken = take_object(event); !taken)
      return take_bad_frame(refusal_of(event.object, taken.error()));
  }
  std::string version = resource_version_of(event.object);
  if (!is_collecting_) {
    if (!version.empty()) position_ = std::move(version);
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
  return sink_.change(event.type, event.object);
}

// A server may send any number of them, each with another fault.
void Reflector::tell_skipped(std::string_view why) {
  const auto now = Clock::now();
  if (skip_told_at_ && now - *skip_told_at_ < settings_.complaint) return;
  skip_told_at_ = now;
  complain(cat("skipped: ", why));
}

// Bytes may have been damaged on the way: the first time another watch resumes. An object that is
// itself the cause would hold us up for ever: the second time it is skipped.
std::optional<Reflector::Outcome> Reflector::take_bad_frame(std::string why) {
  const std::string here = is_collecting_ ? "initial" : position_;
  if (bad_position_ == here) {
    ++counters_.skipped;
    tell_skipped(why);
    return std::nullopt;
  }
  bad_position_ = here;
  return pause(std::move(why));
}

aio::Task<Reflector::Outcome> Reflector::refused(http::ResponseStream* stream) {
  const int code = stream->status();
  const auto wait = parse_retry_after(stream->headers());
  auto body = co_await http::read_whole(stream, kMostOfRefusal, Clock::now() + settings_.open_time);
  Status status = parse_status(code, body ? *body : "");
  status.code = code;
  if (wait) status.retry_after = wait;
  if (is_collecting_ && (code == 400 || code == 422)) co_return stream_is_refused(status.message);
  Outcome outcome = take_refusal(status);
  outcome.is_unknown = code == 404;
  co_return outcome;
}

Reflector::Outcome Reflector::take_refusal(const Status& status) {
  if (is_gone(status) || status.is_version_too_large) return start_over(status);
  Outcome outcome = pause(error_of(status).text());
  outcome.at_least = status.retry_after;
  return outcome;
}

// The list, or the place in it, is too old for the server, or the server's state is older than it.
// What we have is still served. The server may say so to all nodes at once, and each time: there is
// a pause before each new list, however well the one before it went.
Reflector::Outcome Reflector::start_over(const Status& status) {
  log_.verbose(cat(settings_.path, ": starting over: ", status.message));
  wants_newest_ = !std::exchange(is_read_, false);
  if (!position_.empty()) seen_ = std::exchange(position_, {});
  // Once is how a long silence or an outage ends, and no reason to wait as long as before: the
  // server is back. More than that is trouble.
  const bool is_trouble = std::exchange(was_gone_, true);
  if (!is_trouble) backoff_.reset();
  return {.next = Outcome::Next::kPause,
          .why = is_trouble ? error_of(status).text() : "",
          .at_least = status.retry_after,
          .is_gone = true};
}

Reflector::Outcome Reflector::stream_is_refused(std::string_view why) {
  log_.verbose(cat(settings_.path, ": no streamed list, reading pages: ", why));
  refuses_streams_ = true;
  is_collecting_ = false;
  return {};
}

void Reflector::connected() {
  if (!std::exchange(is_connected_, true)) sink_.connected();
}

void Reflector::complain(const std::string& what, std::string_view preface) {
  const auto now = Clock::now();
  if (what == last_complaint_ && now - complained_at_ < settings_.complaint) return;
  last_complaint_ = what;
  complained_at_ = now;
  log_.error(cat("watch of ", settings_.path, ": ", preface, what));
  sink_.trouble(what);
}

}  // namespace mnet::kube
