// Whether the daemon is ready, and if not, why (03, 2.7 and 2.12).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "aio/task.h"
#include "base/log.h"
#include "base/result.h"

namespace mnet::daemon {

// Why /readyz says no.
inline constexpr std::string_view kNotReadyHeader = "X-Not-Ready";

class Readiness {
 public:
  // `indicator`: a file that others make when the default network is ready; empty: there is none.
  explicit Readiness(std::string indicator) : indicator_(std::move(indicator)) {}

  // What keeps the daemon from serving, for people; start_serving() ends it.
  void wait_for(std::string what) { awaited_ = std::move(what); }
  void start_serving() {
    awaited_.clear();
    serving_ = true;
  }
  // What keeps it from being ready whether it serves or not, for people, until lift(). `who` keeps
  // the hindrances of several apart; the last `why` of each counts.
  void hinder(const std::string& who, std::string why) { hindrances_[who] = std::move(why); }
  void lift(const std::string& who) { hindrances_.erase(who); }

  // From the moment a stop signal arrived; ready again while no other daemon comes.
  void stop() { stopping_ = true; }
  void resume() { stopping_ = false; }
  bool stopping() const { return stopping_; }

  // Looks at the file each time: a request must not be refused because of what was true a second
  // ago.
  bool indicator_is_there() const;
  // Another condition for being ready: yields what it lacks, for messages; empty:
  // nothing.
  void require(std::function<std::string()> lacks) { lacks_ = std::move(lacks); }

  // What others must do before it can serve: the indicator, a hindrance, a requirement. Empty:
  // nothing.
  std::string missing() const;

  // Whether it serves, and only waits for that.
  bool waits_for_others() const { return serving_ && !stopping_ && !why_not().empty(); }

  // Why /readyz says no, on one line: what is waited for, or that the daemon stops. Empty if it
  // says yes.
  std::string why_not() const;

  // `still waiting for readinessindicatorfile @ <path>`
  std::string waiting_text() const;

  // Says in the log when the indicator comes and goes, and now and then that it is missing. Ends
  // only when cancelled.
  aio::Task<void> report(Log log) const;

 private:
  std::string hindrance() const;

  std::string indicator_;
  std::function<std::string()> lacks_;
  std::string awaited_;
  std::map<std::string, std::string> hindrances_;
  bool serving_ = false;
  bool stopping_ = false;
};

}  // namespace mnet::daemon
