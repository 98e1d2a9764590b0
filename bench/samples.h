// Durations of one kind of step, and their statistics.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "json/json.h"

namespace mnet::bench {

class Samples {
 public:
  void add(std::chrono::nanoseconds duration) { durations_.push_back(duration); }
  std::size_t size() const { return durations_.size(); }

  // The value that `share` (0 to 1) of the samples do not exceed; 0 if there are none.
  std::chrono::nanoseconds quantile(double share) const;

  // {"count", "median_us", "p99_us"}
  json::Object to_json() const;

 private:
  std::vector<std::chrono::nanoseconds> durations_;
};

}  // namespace mnet::bench
