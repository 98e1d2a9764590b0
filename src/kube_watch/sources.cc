#include "kube_watch/sources.h"

#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/sleep.h"
#include "aio/task.h"
#include "aio/timer.h"
#include "base/backoff.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "kube/discovery.h"
#include "kube/kube.h"
#include "kube/objects.h"
#include "kube/reflector.h"
#include "kube/watch_event.h"
#include "kube_watch/command.h"
#include "kube_watch/deliveries.h"
#include "nodetools/follow_files.h"
#include "nodetools/output.h"
#include "sys/file.h"

namespace mnet::kube_watch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kFirstPause{1};
constexpr std::chrono::seconds kLongestPause{36};
constexpr std::chrono::seconds kPatience{60};  // with an unknown type
constexpr std::chrono::seconds kHealthy{60};   // of a following: failures before it are forgotten
constexpr std::size_t kLargestFile = 10u << 20;

std::string_view event_name(kube::EventType type) {
  switch (type) {
    case kube::EventType::kAdded:
      return "ADDED";
    case kube::EventType::kDeleted:
      return "DELETED";
    default:
      return "MODIFIED";
  }
}

// Whether not every user may read it. Another event reports a file that is gone meanwhile.
bool is_private(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) != 0 || (status.st_mode & 0004U) == 0;
}

}  // namespace

ObjectWatch::ObjectWatch(Command command, std::string default_ns, kube::Api& api,
                         Deliveries& deliveries, nodetools::Output& output, Random random,
                         aio::Timer& timer)
    : command_(std::move(command)),
      ns_(command_.wants_all_namespaces ? "" : command_.ns.value_or(std::move(default_ns))),
      api_(api),
      deliveries_(deliveries),
      output_(output),
      random_(std::move(random)),
      timer_(timer),
      types_(api) {}

aio::Task<void> ObjectWatch::run() {
  Backoff backoff(kFirstPause, kLongestPause, random_, kFifth);
  output_.print(cat("Watching object ", target(), " jsonpath=", command_.jsonpath, "..."));
  for (;;) {
    MNET_CO_TRY(auto&& resource, co_await resolve());
    is_secret_ = resource.kind == "Secret";
    kube::ReflectorSettings what = kube::tool_watch(resource.collection_path(ns_));
    what.name = command_.name;
    what.label_selector = command_.label;
    what.ends_if_unknown = true;
    const std::string path = what.path;
    const auto began = timer_.now();
    kube::Reflector reflector(api_, std::move(what), *this, Log());
    auto ended = co_await reflector.run();
    if (!ended && ended.error().code() != Errc::kNotFound) co_return ended;
    trouble(cat("the server no longer has ", path));
    if (timer_.now() - began >= kHealthy) backoff.reset();
    MNET_CO_TRY_VOID(co_await timer_.sleep_for(backoff.next()));
  }
}

// A server that does not answer is waited for; one that does not know the type, for a minute.
aio::Task<kube::Resource> ObjectWatch::resolve() {
  Backoff backoff(kFirstPause, kLongestPause, random_, kFifth);
  std::optional<Clock::time_point> unknown_since;
  std::string last_trouble;
  for (;;) {
    auto found = co_await types_.find(command_.type);
    if (found && *found) co_return **std::move(found);
    if (!found && found.error().code() == Errc::kCancelled) co_return std::move(found).error();
    if (found) {
      const std::string unknown =
          cat("the server doesn't have a resource type ", go_quoted(command_.type));
      if (!unknown_since) {
        unknown_since = Clock::now();
        trouble(cat(unknown, " yet, waiting..."));
      }
      if (Clock::now() - *unknown_since >= kPatience) co_return Error(Errc::kNotFound, unknown);
    } else if (last_trouble != found.error().text()) {
      last_trouble = found.error().text();
      trouble(last_trouble);
    }
    MNET_CO_TRY_VOID(co_await aio::sleep_for(backoff.next()));
  }
}

std::string ObjectWatch::target() const { return cat(command_.type, " ", ns_, "/", command_.name); }

Result<void> ObjectWatch::add(const json::Object& object) {
  if (const auto meta = kube::parse_meta(object)) listed_.push_back(meta->key());
  return change(kube::EventType::kAdded, object);
}

Result<void> ObjectWatch::change(kube::EventType type, const json::Object& object) {
  MNET_TRY(auto&& meta, kube::parse_meta(object));
  const std::string key = follows_one() ? kOnlyKey : meta.key();
  auto text = command_.path->evaluate(json::Value(object));
  if (text) {
    deliveries_.offer({.key = key,
                       .text = *std::move(text),
                       .event = std::string(event_name(type)),
                       .ns = meta.ns,
                       .name = meta.name,
                       .resource_version = meta.resource_version,
                       .is_private = is_secret_});
  } else {
    output_.complain(meta.key(), text.error().text());
  }
  if (type == kube::EventType::kDeleted && !follows_one()) deliveries_.forget(key);
  return {};
}

void ObjectWatch::commit() {
  deliveries_.source_is_known();
  if (!follows_one()) deliveries_.keep_only(listed_);
}

void ObjectWatch::trouble(const std::string& why) { output_.complain(target(), why); }

FileSource::FileSource(std::string path, Deliveries& deliveries, nodetools::Output& output)
    : path_(std::move(path)), deliveries_(deliveries), output_(output) {}

aio::Task<void> FileSource::run() {
  output_.print(cat("Watching file ", path_, "..."));
  MNET_CO_TRY(auto&& follower,
              nodetools::FileFollower::make(
                  co_await aio::asio::this_coro::executor,
                  {.warn = [this](const std::string& text) { output_.complain(path_, text); }}));
  MNET_CO_TRY_VOID(follower.follow(std::set{path_}));
  for (;;) {
    look();
    deliveries_.source_is_known();
    MNET_CO_TRY_VOID(co_await follower.wait());
  }
}

void FileSource::look() {
  auto text = sys::find_file(path_, kLargestFile);
  if (!text) return say_once(text.error().text());
  if (!*text) {
    return say_once(was_there_ ? cat("File ", path_, " was deleted, waiting...")
                               : cat("File ", path_, " does not exist yet, waiting..."));
  }
  said_.clear();
  was_there_ = true;
  if (content_ == **text) return;
  if (content_) output_.print(cat("Handling change in ", path_, "..."));
  content_ = **text;
  deliveries_.offer({.key = kOnlyKey,
                     .text = *content_,
                     .event = "FILE",
                     .ns = {},
                     .name = path_,
                     .resource_version = {},
                     .is_private = is_private(path_)});
}

void FileSource::say_once(std::string what) {
  if (what != said_) output_.print(what);
  said_ = std::move(what);
}

}  // namespace mnet::kube_watch
