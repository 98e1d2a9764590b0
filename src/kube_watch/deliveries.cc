#include "kube_watch/deliveries.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/backoff.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "kube_watch/channel.h"
#include "kube_watch/handler.h"
#include "nodetools/diff_text.h"
#include "nodetools/output.h"
#include "sys/environment.h"

namespace mnet::kube_watch {
namespace {

using Clock = std::chrono::steady_clock;

// The kernel takes no longer argument; its last byte is a NUL.
constexpr std::size_t kLongestArgument = 131071;

std::string cleaned(std::string text) {
  std::erase(text, '\0');
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

}  // namespace

Deliveries::Deliveries(Settings settings, Channel channel, nodetools::Output& output)
    : settings_(std::move(settings)), channel_(std::move(channel)), output_(output) {}

Result<void> Deliveries::remember(const std::string& key) {
  MNET_TRY(auto&& previous, channel_.load_previous());
  entries_[key].previous = std::move(previous);
  return {};
}

void Deliveries::offer(Value value) {
  value.text = cleaned(std::move(value.text));
  if (value.text.empty() && !settings_.wants_empty) return;
  Entry& entry = entries_[value.key];
  entry.is_gone = false;
  if (!entry.pending) entry.arrived = ++arrivals_;
  entry.pending = std::move(value);
  changes_.notify_all();
}

void Deliveries::forget(const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  found->second.is_gone = true;
  drop_settled();
  changes_.notify_all();
}

void Deliveries::keep_only(const std::vector<std::string>& keys) {
  const std::set<std::string> kept(keys.begin(), keys.end());
  for (auto& [key, entry] : entries_) entry.is_gone = entry.is_gone || !kept.contains(key);
  drop_settled();
  changes_.notify_all();
}

aio::Task<void> Deliveries::run() {
  for (;;) {
    drop_settled();
    if (Entry* due = find_due()) {
      MNET_CO_TRY_VOID(co_await deliver(due));
      continue;
    }
    auto changed = co_await changes_.wait(next_due());
    if (!changed && changed.error().code() == Errc::kCancelled) co_return changed;
  }
}

void Deliveries::drop_settled() {
  for (auto& [key, entry] : entries_) {
    // While the handler runs for it, `previous` is about to change.
    if (!entry.pending || &entry == delivered_) continue;
    if (entry.pending->text != entry.previous) continue;
    entry.pending.reset();
    entry.backoff.reset();
  }
  std::erase_if(entries_, [this](const auto& one) {
    return one.second.is_gone && !one.second.pending && &one.second != delivered_;
  });
}

Deliveries::Entry* Deliveries::find_due() {
  Entry* due = nullptr;
  for (auto& [key, entry] : entries_) {
    if (!entry.pending || entry.not_before > Clock::now()) continue;
    if (due == nullptr || entry.arrived < due->arrived) due = &entry;
  }
  return due;
}

aio::Deadline Deliveries::next_due() const {
  aio::Deadline next = aio::kNoDeadline;
  for (const auto& [key, entry] : entries_) {
    if (entry.pending) next = std::min(next, entry.not_before);
  }
  return next;
}

// The entry stays where it is: drop_settled() removes others.
aio::Task<void> Deliveries::deliver(Entry* entry) {
  Value value = *std::move(entry->pending);
  entry->pending.reset();
  show(*entry, value);
  delivered_ = entry;
  const auto began = Clock::now();
  auto handled = co_await handle(value, entry->previous);
  delivered_ = nullptr;
  ++counts_.runs;
  counts_.time += Clock::now() - began;
  if (handled) {
    counts_.last_success = Clock::now();
    entry->previous = std::move(value.text);
    entry->backoff.reset();
    entry->not_before = {};
  } else if (handled.error().code() == Errc::kCancelled) {
    co_return handled;
  } else {
    ++counts_.failures;
    note_failure(*entry, std::move(value), handled.error());
  }
  tell_();
  co_return Result<void>();
}

aio::Task<void> Deliveries::handle(Value value, std::string previous) {
  MNET_CO_TRY_VOID(channel_.begin(value.text, previous));
  MNET_CO_TRY_VOID(co_await handler_.run(call_for(value, previous)));
  co_return channel_.finish(value.text);
}

void Deliveries::show(Entry& entry, const Value& value) {
  if (entry.shown != value.text) {
    if (value.is_private) {
      output_.print(nodetools::block(
          "Channel data", cat("(", value.text.size(), " bytes, not shown: not for everyone)")));
    } else {
      output_.print(nodetools::block("Channel data", value.text));
      output_.print(
          nodetools::block("Channel data diff", nodetools::diff_text(entry.previous, value.text)));
    }
    entry.shown = value.text;
  }
  output_.print(cat("Handling channel data with ", settings_.handler, "..."));
}

void Deliveries::note_failure(Entry& entry, Value value, const Error& why) {
  last_failure_ = cat("Handler failed: ", why.text());
  output_.complain(settings_.handler, last_failure_);
  if (!entry.backoff) {
    entry.backoff.emplace(settings_.first_pause, settings_.longest_pause, make_random(), kExact);
  }
  entry.not_before = Clock::now() + entry.backoff->next();
  if (!entry.pending) entry.pending = std::move(value);
}

void Deliveries::source_is_known() {
  if (std::exchange(is_source_known_, true)) return;
  tell_();
}

std::string Deliveries::trouble() const {
  if (!is_source_known_) return "the followed object or file has not been read yet";
  for (const auto& [key, entry] : entries_) {
    if (entry.backoff) return last_failure_;
  }
  const bool is_first =
      !counts_.last_success && (delivered_ != nullptr || next_due() != aio::kNoDeadline);
  return is_first ? "the first value is being handled" : "";
}

std::string Deliveries::metrics() const {
  std::size_t failing = 0, pending = 0;
  for (const auto& [key, entry] : entries_) {
    if (entry.backoff) ++failing;
    if (!entry.backoff && (entry.pending || &entry == delivered_)) ++pending;
  }
  const auto seconds = [](auto time) { return std::chrono::duration<double>(time).count(); };
  std::string out =
      cat("# TYPE kube_watch_items gauge\nkube_watch_items{state=\"handled\"} ",
          entries_.size() - failing - pending, "\nkube_watch_items{state=\"pending\"} ", pending,
          "\nkube_watch_items{state=\"failing\"} ", failing,
          "\n# TYPE kube_watch_handler_runs_total counter\nkube_watch_handler_runs_total ",
          counts_.runs,
          "\n# TYPE kube_watch_handler_failures_total counter\nkube_watch_handler_failures_total ",
          counts_.failures,
          "\n# TYPE kube_watch_handler_seconds summary\nkube_watch_handler_seconds_sum ",
          seconds(counts_.time), "\nkube_watch_handler_seconds_count ", counts_.runs, "\n");
  if (counts_.last_success) {
    out += cat("# TYPE kube_watch_seconds_since_success gauge\nkube_watch_seconds_since_success ",
               seconds(Clock::now() - *counts_.last_success), "\n");
  }
  return out;
}

HandlerCall Deliveries::call_for(const Value& value, const std::string& previous) const {
  const auto argument = [](const std::string& text) {
    return text.size() > kLongestArgument ? std::string() : text;
  };
  HandlerCall call{.handler = settings_.handler,
                   .args = {channel_.path(), argument(value.text), argument(previous)},
                   .environment = settings_.environment,
                   .timeout = settings_.timeout};
  call.still_runs = [this](std::chrono::seconds time) {
    output_.complain(settings_.handler,
                     cat("still running after ", time.count(),
                         " s; new values wait for its end (--handler-timeout can end it)"));
  };
  sys::set_variable(call.environment, "KUBE_WATCH_EVENT", value.event);
  sys::set_variable(call.environment, "KUBE_WATCH_NAMESPACE", value.ns);
  sys::set_variable(call.environment, "KUBE_WATCH_NAME", value.name);
  sys::set_variable(call.environment, "KUBE_WATCH_RESOURCE_VERSION", value.resource_version);
  if (std::max(value.text.size(), previous.size()) > kLongestArgument) {
    sys::set_variable(call.environment, "KUBE_WATCH_OVERSIZE", "1");
  }
  return call;
}

}  // namespace mnet::kube_watch
