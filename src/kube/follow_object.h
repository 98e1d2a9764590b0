// Follows one object of the API, or all of a collection, as 04, 2.2 says: GET or LIST, then WATCH
// from there, resumed and begun anew as needed. Knows nothing of what the objects mean.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aio/task.h"
#include "aio/timer.h"
#include "json/json.h"
#include "kube/api.h"
#include "kube/backoff.h"
#include "kube/pauses.h"
#include "kube/watch_event.h"

namespace mnet::kube {

struct Followed {
  std::string collection = {};      // its path: `/api/v1/namespaces/n/configmaps`
  std::string name = {};            // one object, read with GET: no right to list is needed
  std::string label_selector = {};  // of several
  bool is_certain = false;          // there is such a collection, whatever the server says
};

// Who is told, on the follower's loop. References are valid during the call.
class ObjectListener {
 public:
  virtual ~ObjectListener() = default;

  // kAdded also for what was there already; kDeleted comes with the object's last state. The same
  // state may be told again.
  virtual void on_object(kube::EventType type, const json::Object& object) = 0;
  // The one object does not exist (said by a GET; a deletion that is seen is on_object).
  virtual void on_absent() {}
  // All of a collection have been told: those not among `keys` (`namespace/name`) are gone.
  virtual void on_listed(const std::vector<std::string>& keys) { (void)keys; }
  // The server answers again after trouble, or for the first time.
  virtual void on_connected() {}
  // Something that is tried again. The same words at most once a minute.
  virtual void on_trouble(const std::string& why) = 0;
};

class ObjectFollower {
 public:
  struct Settings {
    using Time = std::chrono::milliseconds;
    Time call_time{30'000};  // for an answer's head, for a GET, for a page
    Time first_pause{1000}, longest_pause{30'000};
    Time healthy{60'000};               // of a stream: failures before it are forgotten
    Time grace{30'000};                 // of silence beyond a stream's own time
    Time complaint{60'000};             // between equal words
    int shortest = 300, longest = 600;  // seconds of a stream
  };

  // All must outlive the task of run().
  ObjectFollower(kube::Api& api, Followed what, ObjectListener& listener, Settings settings,
                 kube::Random random, aio::Timer& timer = aio::Timer::steady());
  ObjectFollower(kube::Api& api, Followed what, ObjectListener& listener)
      : ObjectFollower(api, std::move(what), listener, Settings(), kube::make_random()) {}

  // Until cancelled; or with kNotFound if the server does not know the collection (any more) and it
  // is not certain: look for its path anew.
  aio::Task<void> run();

 private:
  // How a step ended: on to the next, from the beginning after a pause, or after a pause.
  enum class Next : std::uint8_t { kGoOn, kStartOver, kPause };
  struct Outcome {
    Next next = Next::kGoOn;
    std::string why = {};
    std::optional<std::chrono::seconds> at_least = {};
    bool is_unknown = false;  // 404 of the collection
  };
  static Outcome pause(std::string why) { return {Next::kPause, std::move(why), {}}; }

  aio::Task<Outcome> round();
  aio::Task<Outcome> read_one();
  aio::Task<Outcome> read_all();
  aio::Task<Outcome> read_page(std::string query, std::vector<std::string>* keys,
                               std::string* continuation);
  aio::Task<Outcome> watch();
  aio::Task<Outcome> read_stream(http::ResponseStream* stream, std::chrono::seconds time);
  aio::Task<Outcome> refused(http::ResponseStream* stream);
  Outcome take_page(const json::Object& page, std::vector<std::string>* keys,
                    std::string* continuation);
  Outcome take_line(const kube::LineSplitter::Line& line);
  Outcome take_event(const kube::WatchEvent& event);
  static Outcome of_refusal(const kube::Status& status);
  std::string watch_path(int seconds) const;
  void connected();
  void complain(const std::string& why);

  kube::Api& api_;
  const Followed what_;
  ObjectListener& listener_;
  const Settings settings_;
  kube::Random random_;
  Pauses pauses_;
  aio::Timer& timer_;
  bool is_read_ = false;  // the state before the watch is known
  std::string position_;  // where a watch goes on; empty: it begins with the present state
  bool is_connected_ = false;
  bool was_short_ = false;  // the last stream ended at once
  bool was_gone_ = false;   // the position was forgotten, and no stream has been healthy since
  std::string last_complaint_;
  std::chrono::steady_clock::time_point complained_at_ = {};
};

}  // namespace mnet::kube
