// Brings new values to the handler, one at a time (04, 2.5): what arrives meanwhile is merged by
// object, what fails is tried again, what was handled is remembered. Knows nothing of where values
// come from.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/event.h"
#include "aio/task.h"
#include "base/backoff.h"
#include "base/result.h"
#include "kube_watch/channel.h"
#include "kube_watch/handler.h"
#include "nodetools/output.h"

namespace mnet::kube_watch {

struct Value {
  std::string key = {};  // of the object; values of one replace each other
  std::string text = {};
  std::string event = {};  // ADDED, MODIFIED, DELETED, FILE
  std::string ns = {}, name = {}, resource_version = {};
  bool is_private = false;  // is not printed: logs have more readers
};

class Deliveries {
 public:
  struct Settings {
    std::string handler = {};
    std::chrono::seconds timeout{0};
    bool wants_empty = false;
    std::vector<std::string> environment = {};
    std::chrono::milliseconds first_pause{1000}, longest_pause{60'000};
  };
  // The output must outlive it.
  Deliveries(Settings settings, Channel channel, nodetools::Output& output);

  // What an earlier run has handled of this key; for callers that follow one thing only.
  Result<void> remember(const std::string& key);

  // NULs and newlines at the end are left out. Told again and again, the same value is handled
  // once.
  void offer(Value value);
  // The object is gone: what is pending of it is still delivered.
  void forget(const std::string& key);
  // All but these are gone.
  void keep_only(const std::vector<std::string>& keys);

  // Until cancelled, which ends a handler that runs.
  aio::Task<void> run();
  void kill_handler() const { handler_.kill(); }

  // The source has said all that there is now; before that nothing is known.
  void source_is_known();
  // Called when the next two may have other answers.
  void on_change(std::function<void()> tell) { tell_ = std::move(tell); }
  // What hinders; empty: everything that is known was handled.
  std::string trouble() const;
  // In the text format of Prometheus.
  std::string metrics() const;

 private:
  struct Entry {
    std::optional<Value> pending = {};
    std::uint64_t arrived = 0;  // the first of those that were merged into `pending`
    std::string previous = {};
    std::optional<std::string> shown = {};  // the last value that was printed
    std::optional<Backoff> backoff = {};    // of a value whose handler has failed
    std::chrono::steady_clock::time_point not_before = {};
    bool is_gone = false;
  };
  using Entries = std::map<std::string, Entry>;

  void drop_settled();
  Entry* find_due();
  aio::Deadline next_due() const;
  aio::Task<void> deliver(Entry* entry);
  aio::Task<void> handle(Value value, std::string previous);
  void show(Entry& entry, const Value& value);
  void note_failure(Entry& entry, Value value, const Error& why);
  HandlerCall call_for(const Value& value, const std::string& previous) const;

  const Settings settings_;
  const Channel channel_;
  nodetools::Output& output_;
  Handler handler_;
  Entries entries_;
  const Entry* delivered_ = nullptr;  // the one whose handler runs
  std::uint64_t arrivals_ = 0;
  aio::Notifier changes_;

  struct Counts {
    std::uint64_t runs = 0, failures = 0;
    std::chrono::duration<double> time{0};
    std::optional<std::chrono::steady_clock::time_point> last_success = {};
  };
  Counts counts_;
  bool is_source_known_ = false;
  std::string last_failure_;
  std::function<void()> tell_ = [] {};
};

}  // namespace mnet::kube_watch
