// Whether the daemon wants to be asked (03, 2.7 and 2.12).
#pragma once

#include <string>

#include "aio/task.h"
#include "base/log.h"
#include "base/result.h"

namespace mnet::daemon {

class Readiness {
 public:
  // `indicator`: a file that others make when the default network is ready; empty: there is none.
  explicit Readiness(std::string indicator) : indicator_(std::move(indicator)) {}

  void start_serving() { serving_ = true; }
  // From the moment a stop signal arrived.
  void stop() { stopping_ = true; }
  bool stopping() const { return stopping_; }

  // Looks at the file each time: a request must not be refused because of what was true a second
  // ago.
  bool indicator_is_there() const;
  // Whether /readyz says yes.
  bool ready() const { return serving_ && !stopping_ && indicator_is_there(); }
  // Ready but for the indicator.
  bool lacks_only_indicator() const { return serving_ && !stopping_ && !indicator_is_there(); }

  // `still waiting for readinessindicatorfile @ <path>`
  std::string waiting_text() const;

  // Says in the log when the indicator comes and goes, and now and then that it is missing. Ends
  // only when cancelled.
  aio::Task<void> report(Log log) const;

 private:
  std::string indicator_;
  bool serving_ = false;
  bool stopping_ = false;
};

}  // namespace mnet::daemon
