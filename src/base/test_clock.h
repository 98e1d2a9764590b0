// A wall clock that stands still until told otherwise. For tests only.
#pragma once

#include <chrono>

#include "base/clock.h"

namespace mnet {

class TestClock final : public WallClock {
 public:
  using Time = std::chrono::system_clock::time_point;

  TestClock() = default;
  explicit TestClock(std::chrono::seconds since_epoch) : time(since_epoch) {}

  Time now() const override { return time; }
  void advance(std::chrono::milliseconds by) { time += by; }

  Time time{std::chrono::milliseconds(1'787'240'345'123)};  // 2026-08-20T15:39:05.123Z
};

}  // namespace mnet
