#include "kube/follow_object.h"

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "aio/cancel.h"
#include "aio/task.h"
#include "aio/timer.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/fields.h"
#include "json/json.h"
#include "kube/backoff.h"
#include "kube/kube.h"
#include "kube/objects.h"
#include "kube/pauses.h"
#include "kube/reply.h"
#include "kube/watch_event.h"

namespace mnet::kube {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMaxRefusal = 256u << 10;
constexpr std::size_t kMaxPage = 64u << 20;
constexpr std::chrono::seconds kShortStream{1};

std::string key_of(const json::Object& object) {
  const auto meta = kube::parse_meta(object);
  return meta ? meta->key() : "";
}

// An event of a type that is not known yet is none of ours (04, 2.2).
bool is_unknown_event(const std::string& line) {
  const auto event = json::parse_object(line);
  const json::Value* type = event ? event->find("type") : nullptr;
  return type != nullptr && type->as_string() != nullptr;
}

}  // namespace

ObjectFollower::ObjectFollower(kube::Api& api, Followed what, ObjectListener& listener,
                               Settings settings, kube::Random random, aio::Timer& timer)
    : api_(api),
      what_(std::move(what)),
      listener_(listener),
      settings_(settings),
      random_(random),
      pauses_(settings_.first_pause, settings_.longest_pause, std::move(random)),
      timer_(timer) {}

aio::Task<void> ObjectFollower::run() {
  for (;;) {
    auto outcome = co_await round();
    const bool is_over = co_await aio::cancelled();
    if (is_over) co_return aio::cancelled_error();
    if (!outcome) co_return std::move(outcome).error();
    if (outcome->is_unknown && !what_.is_certain) co_return Error(Errc::kNotFound, outcome->why);
    if (outcome->next == Next::kGoOn) continue;

    // A position that is forgotten once is how a long silence ends, and not worth a word. All nodes
    // may lose theirs at once, though, and a server may forget each one: there is always a pause.
    bool is_trouble = true;
    if (outcome->next == Next::kStartOver) {
      is_read_ = false;
      position_.clear();
      is_trouble = std::exchange(was_gone_, true);
    }
    if (is_trouble) {
      is_connected_ = false;
      complain(outcome->why);
    }
    MNET_CO_TRY_VOID(co_await timer_.sleep_for(pauses_.next(outcome->at_least)));
  }
}

aio::Task<ObjectFollower::Outcome> ObjectFollower::round() {
  if (!is_read_) {
    // Two statements: one co_await each.
    Result<Outcome> read;
    if (what_.name.empty()) {
      read = co_await read_all();
    } else {
      read = co_await read_one();
    }
    if (!read || read->next != Next::kGoOn) co_return read;
    is_read_ = true;
    connected();
  }
  co_return co_await watch();
}

aio::Task<ObjectFollower::Outcome> ObjectFollower::read_one() {
  kube::Call call{.path = cat(what_.collection, "/", kube::query_value(what_.name))};
  auto reply = co_await api_.call(std::move(call), Clock::now() + settings_.call_time);
  if (!reply) co_return pause(reply.error().text());
  if (reply->status == 404) {
    position_.clear();
    listener_.on_absent();
    co_return Outcome();
  }
  if (!reply->ok()) co_return of_refusal(kube::parse_status(reply->status, reply->body));
  const auto object = json::parse_object(reply->body);
  if (!object) co_return pause(object.error().text());
  position_ = kube::resource_version_of(*object);
  listener_.on_object(kube::EventType::kAdded, *object);
  co_return Outcome();
}

aio::Task<ObjectFollower::Outcome> ObjectFollower::read_all() {
  std::vector<std::string> keys;
  std::string continuation;
  do {
    std::string query = "limit=500";
    if (!what_.label_selector.empty()) {
      query += cat("&labelSelector=", kube::query_value(what_.label_selector));
    }
    if (!continuation.empty()) query += cat("&continue=", kube::query_value(continuation));
    auto page = co_await read_page(std::move(query), &keys, &continuation);
    if (!page || page->next != Next::kGoOn) co_return page;
  } while (!continuation.empty());
  listener_.on_listed(keys);
  co_return Outcome();
}

aio::Task<ObjectFollower::Outcome> ObjectFollower::read_page(std::string query,
                                                             std::vector<std::string>* keys,
                                                             std::string* continuation) {
  kube::Call call{.path = cat(what_.collection, "?", query), .max_bytes = kMaxPage};
  auto reply = co_await api_.call(std::move(call), Clock::now() + settings_.call_time);
  if (!reply) co_return pause(reply.error().text());
  if (!reply->ok()) {
    auto outcome = of_refusal(kube::parse_status(reply->status, reply->body));
    outcome.is_unknown = reply->status == 404;
    co_return outcome;
  }
  const auto page = json::parse_object(reply->body);
  if (!page) co_return pause(page.error().text());
  co_return take_page(*page, keys, continuation);
}

ObjectFollower::Outcome ObjectFollower::take_page(const json::Object& page,
                                                  std::vector<std::string>* keys,
                                                  std::string* continuation) {
  position_ = kube::resource_version_of(page);
  continuation->clear();
  json::Fields fields(page, "", json::Match::kExact);
  fields.object("metadata", [&](const json::Object& metadata, const std::string& path) {
    json::Fields inner(metadata, path, json::Match::kExact);
    inner.read("continue", *continuation);
    return inner.done();
  });
  fields.list("items", [&](const json::Value& value, const std::string& path) -> Result<void> {
    const json::Object* item = value.as_object();
    if (item == nullptr) return json::wrong_kind(path, "an object", value);
    keys->push_back(key_of(*item));
    listener_.on_object(kube::EventType::kAdded, *item);
    return {};
  });
  if (auto done = fields.done(); !done) return pause(done.error().text());
  return {};
}

std::string ObjectFollower::watch_path(int seconds) const {
  std::string path =
      cat(what_.collection, "?watch=1&allowWatchBookmarks=true&timeoutSeconds=", seconds);
  if (!what_.name.empty()) {
    path += cat("&fieldSelector=", kube::query_value(cat("metadata.name=", what_.name)));
  }
  if (!what_.label_selector.empty()) {
    path += cat("&labelSelector=", kube::query_value(what_.label_selector));
  }
  if (!position_.empty()) path += cat("&resourceVersion=", kube::query_value(position_));
  return path;
}

aio::Task<ObjectFollower::Outcome> ObjectFollower::watch() {
  const int span = settings_.longest - settings_.shortest;
  const int seconds = settings_.shortest + static_cast<int>(random_() * span);
  const auto began = Clock::now();
  auto stream = co_await api_.open(watch_path(seconds), began + settings_.call_time);
  if (!stream) co_return pause(stream.error().text());
  if ((*stream)->status() != 200) {
    co_return co_await refused(stream->get());
  }
  connected();
  auto outcome = co_await read_stream(stream->get(), std::chrono::seconds(seconds));
  const auto lived = Clock::now() - began;
  if (lived >= settings_.healthy) {
    pauses_.reset();
    was_gone_ = false;
  }
  // A server, or something before it, that ends every stream at once must not be asked in a circle,
  // whatever it says before that.
  const bool is_short = lived < kShortStream;
  const bool was_short = std::exchange(was_short_, is_short);
  if (outcome && outcome->next == Next::kGoOn && is_short && was_short) {
    outcome->next = Next::kPause;
  }
  co_return outcome;
}

aio::Task<ObjectFollower::Outcome> ObjectFollower::read_stream(http::ResponseStream* stream,
                                                               std::chrono::seconds time) {
  kube::LineSplitter lines;
  for (;;) {
    auto bytes = co_await stream->read(Clock::now() + time + settings_.grace);
    if (!bytes) co_return pause(bytes.error().text());
    if (bytes->empty()) co_return Outcome();
    lines.put(*bytes);
    while (const auto line = lines.next()) {
      auto outcome = take_line(*line);
      if (outcome.next != Next::kGoOn) co_return outcome;
    }
  }
}

ObjectFollower::Outcome ObjectFollower::take_line(const kube::LineSplitter::Line& line) {
  if (line.is_too_long) return pause("an event is too large");
  const auto event = kube::parse_watch_event(line.text);
  if (event) return take_event(*event);
  if (is_unknown_event(line.text)) return {};
  return pause(event.error().text());
}

ObjectFollower::Outcome ObjectFollower::take_event(const kube::WatchEvent& event) {
  if (event.type == kube::EventType::kError) {
    const kube::Status status = kube::parse_status(500, json::dump(event.object));
    auto outcome = of_refusal(status);
    // Whatever it was, the position may be the cause.
    is_read_ = false;
    position_.clear();
    return outcome;
  }
  if (auto version = kube::resource_version_of(event.object); !version.empty()) {
    position_ = std::move(version);
  }
  if (event.type != kube::EventType::kBookmark) listener_.on_object(event.type, event.object);
  return {};
}

aio::Task<ObjectFollower::Outcome> ObjectFollower::refused(http::ResponseStream* stream) {
  const int code = stream->status();
  const auto wait = kube::parse_retry_after(stream->headers());
  auto body = co_await http::read_whole(stream, kMaxRefusal, Clock::now() + settings_.call_time);
  kube::Status status = kube::parse_status(code, body ? *body : "");
  status.code = code;
  if (wait) status.retry_after = wait;
  auto outcome = of_refusal(status);
  outcome.is_unknown = code == 404;
  co_return outcome;
}

ObjectFollower::Outcome ObjectFollower::of_refusal(const kube::Status& status) {
  const std::string why = kube::error_of(status).text();
  if (kube::is_gone(status)) return {Next::kStartOver, why, {}};
  return {Next::kPause, why, status.retry_after};
}

void ObjectFollower::connected() {
  if (std::exchange(is_connected_, true)) return;
  last_complaint_.clear();
  listener_.on_connected();
}

void ObjectFollower::complain(const std::string& why) {
  const auto now = Clock::now();
  if (why.empty()) return;
  if (why == last_complaint_ && now - complained_at_ < settings_.complaint) return;
  last_complaint_ = why;
  complained_at_ = now;
  listener_.on_trouble(why);
}

}  // namespace mnet::kube
