// The wall clock as a parameter, so that tests choose the time.
#pragma once

#include <chrono>
#include <string>

namespace mnet {

class WallClock {
 public:
  virtual ~WallClock() = default;
  virtual std::chrono::system_clock::time_point now() const = 0;

  // The real clock; lives as long as the process.
  static const WallClock& system();
};

// With the local offset, `2026-08-20T17:39:05+02:00`, and in UTC, `2026-08-20T15:39:05Z`.
std::string rfc3339_local(std::chrono::system_clock::time_point time);
std::string rfc3339_utc(std::chrono::system_clock::time_point time);

}  // namespace mnet
