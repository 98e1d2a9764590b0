#include "bench/samples.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "json/json.h"

namespace mnet::bench {

std::chrono::nanoseconds Samples::quantile(double share) const {
  if (durations_.empty()) return {};
  auto sorted = durations_;
  std::ranges::sort(sorted);
  const auto at = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1));
  return sorted[at];
}

json::Object Samples::to_json() const {
  const auto microseconds = [](std::chrono::nanoseconds duration) {
    return std::int64_t{std::chrono::duration_cast<std::chrono::microseconds>(duration).count()};
  };
  return {{"count", static_cast<std::int64_t>(size())},
          {"median_us", microseconds(quantile(0.5))},
          {"p99_us", microseconds(quantile(0.99))}};
}

}  // namespace mnet::bench
