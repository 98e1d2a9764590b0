// Tells a Sink of one object of the API server or of a whole collection, and goes on telling what
// changes: list, watch, resume, start over when the server has forgotten (03, 5.4 and 04, 2.2).
// Knows nothing of what the objects mean.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "aio/event.h"
#include "aio/task.h"
#include "aio/timer.h"
#include "base/backoff.h"
#include "base/log.h"
#include "kube/api.h"
#include "kube/list_reader.h"
#include "kube/sink.h"
#include "kube/watch_event.h"

namespace mnet::kube {

struct ReflectorSettings {
  using Time = std::chrono::milliseconds;
  std::string path = {};            // of the collection
  std::string name = {};            // one object, read with GET: no right to list is needed
  std::string field_selector = {};  // not encoded, like the next
  std::string label_selector = {};
  // The list is read from storage, not streamed from the server's memory: the newest, at its price.
  // Each ERROR event starts over.
  bool reads_storage = false;
  bool ends_if_unknown = false;  // a 404 of the collection ends run()
  std::size_t page = 500;
  // Objects with a longer text are none of the sink's: nothing of them is kept, and no list or
  // watch is repeated for them.
  std::size_t largest = kMaxFrame;
  // Names of members that the sink does not use: nothing is built of them.
  std::span<const std::string_view> unused = {};
  Time open_time{30'000};        // until the head of an answer
  Time list_time{60'000};        // for a page
  Time initial_silence{30'000};  // without the end of a streamed list: pages are tried
  // Of a watch: healthy ones bring a bookmark each minute, so that this one may be dead although
  // its connection is up. Another one resumes.
  Time silence{150'000};
  // A watch that is cut sooner has failed; so have two in a row that end sooner.
  Time shortest{1000};
  // The longest pause before a watch resumes: what ended it may have ended those of all nodes.
  Time spread{1000};
  Time first_pause{1000}, longest_pause{30'000};
  Jitter jitter = {};
  Time healthy{120'000};   // of watches after their lists: failures before them are forgotten
  Time complaint{60'000};  // between equal complaints, and between those of skipped events
  int shortest_watch = 300, longest_watch = 600;  // seconds; timeoutSeconds is between
};

// As the tools of the node follow objects (04, 2.2); `name` and selectors are the caller's.
ReflectorSettings tool_watch(std::string path);

class Reflector {
 public:
  struct Counters {
    std::uint64_t lists = 0;     // complete initial lists, streamed or paged
    std::uint64_t streams = 0;   // watches that were accepted
    std::uint64_t failures = 0;  // followed by a pause; includes each start over
    std::uint64_t skipped = 0;   // objects that could not be read, twice
  };

  // All must outlive the task of run().
  Reflector(Api& api, ReflectorSettings settings, Sink& sink, Log log,
            Random random = make_random(), aio::Timer& timer = aio::Timer::steady());

  // Until cancelled; or with kNotFound, see ends_if_unknown. To be started once, in a group.
  aio::Task<void> run();

  // Whether the sink has held a complete collection; stays true.
  bool is_synced() const { return synced_.is_set(); }
  aio::Task<void> wait_synced(aio::Deadline deadline);
  // How long no stream has been up; none while one is.
  std::optional<std::chrono::steady_clock::duration> down_for() const;
  // How long ago a stream last said anything, bookmarks included, or run() began: the sink may lag
  // by so much. Healthy streams say something every minute.
  std::chrono::steady_clock::duration silent_for() const;
  const Counters& counters() const { return counters_; }

 private:
  // How a round ended, and so how the next begins.
  struct Outcome {
    enum class Next : std::uint8_t { kGoOn, kResume, kPause } next = Next::kGoOn;
    std::string why = {};  // of a pause; empty: not worth a complaint
    std::optional<std::chrono::seconds> at_least = {};
    bool is_gone = false;     // the server has forgotten the position or the page
    bool is_unknown = false;  // there is no such collection
    bool is_cut = false;      // the connection broke, or was silent
  };
  static Outcome pause(std::string why) {
    return {.next = Outcome::Next::kPause, .why = std::move(why)};
  }

  aio::Task<Outcome> round();
  aio::Task<Outcome> read_one();
  aio::Task<Outcome> list();
  aio::Task<Outcome> list_page(std::string query, ListEnd* end);
  std::string list_query() const;
  aio::Task<Outcome> watch();
  aio::Task<Outcome> read_events(http::ResponseStream* stream);
  Outcome after_watch(Outcome outcome, std::chrono::steady_clock::duration lived);
  // Whether our certificate has changed since the stream was opened; then another goes on there.
  aio::Task<bool> is_outdated(std::uint64_t identity);
  aio::Task<Outcome> refused(http::ResponseStream* stream);
  std::optional<Outcome> take(LineSplitter::Line line);
  std::optional<Outcome> take_event(const WatchEvent& event);
  Result<void> take_object(const WatchEvent& event);
  std::optional<Outcome> take_bad_frame(std::string why);
  void tell_skipped(std::string_view why);
  Outcome take_refusal(const Status& status);
  Outcome start_over(const Status& status);
  Outcome stream_is_refused(std::string_view why);
  void take_item(std::string text);
  void finish_list(std::string position);
  bool streams_list() const;
  std::string selectors() const;
  std::string watch_path();
  std::string oldest_allowed() const { return wants_newest_ ? std::string() : seen_; }
  void connected();
  void complain(const std::string& what, std::string_view preface = "");

  Api& api_;
  const ReflectorSettings settings_;
  Sink& sink_;
  const Log log_;
  Random random_;
  Backoff backoff_;
  aio::Timer& timer_;
  aio::Event synced_;
  Counters counters_;

  bool is_read_ = false;          // the list; a watch comes next
  std::string position_;          // where a watch goes on; empty: with the present state
  std::string seen_;              // the last position before that: no list may be older
  bool is_collecting_ = false;    // the stream is in its initial part
  bool wants_newest_ = false;     // `seen_`, or a page's token, is of no use: what storage has
  bool wants_whole_ = false;      // a page's token expired: no pages
  bool has_no_cache_ = false;     // the server gave even the first list in pages
  bool refuses_streams_ = false;  // lists come in pages
  bool was_gone_ = false;         // and no watch has been healthy since
  bool was_short_ = false;        // the last watch ended at once
  bool is_connected_ = false;
  // Since when the watch brings what follows the list; none: it does not.
  std::optional<std::chrono::steady_clock::time_point> listening_since_;
  std::chrono::steady_clock::duration listened_{0};  // all in all, since the last failure
  std::optional<std::string> bad_position_;          // where a frame could not be read
  std::optional<std::chrono::steady_clock::time_point> down_since_;
  std::chrono::steady_clock::time_point heard_at_ = {};
  std::string last_complaint_;
  std::chrono::steady_clock::time_point complained_at_ = {};
  std::optional<std::chrono::steady_clock::time_point> skip_told_at_;
};

}  // namespace mnet::kube
