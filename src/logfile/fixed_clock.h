// For tests: a wall clock that moves only when told to.
#pragma once

#include <chrono>

#include "base/clock.h"

namespace mnet::logfile {

class FixedClock final : public WallClock {
 public:
  // 2026-08-20T15:39:05.123Z
  std::chrono::system_clock::time_point now() const override { return now_; }
  void advance(std::chrono::milliseconds by) { now_ += by; }

 private:
  std::chrono::system_clock::time_point now_{std::chrono::milliseconds(1'787'240'345'123)};
};

}  // namespace mnet::logfile
