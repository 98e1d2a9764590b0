// The signal that tells a tool to stop: heard by code that waits without the event loop, too.
#pragma once

#include <optional>

#include "sys/signals.h"

namespace mnet::nodetools {

class StopSignal {
 public:
  // The signals must outlive this.
  explicit StopSignal(sys::Signals& signals) : signals_(signals) {}

  bool has_come() {
    if (!number_) number_ = signals_.take();
    return number_.has_value();
  }
  int number() const { return number_.value_or(0); }
  int fd() const { return signals_.fd(); }  // readable when one may have come

 private:
  sys::Signals& signals_;
  std::optional<int> number_;
};

}  // namespace mnet::nodetools
