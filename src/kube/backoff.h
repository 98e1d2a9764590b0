// Pauses between attempts: doubling, with jitter so that a whole cluster does not come back at
// once.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <utility>

namespace mnet::kube {

// A number from 0 to 1; tests bring their own.
using Random = std::function<double()>;

// Seeded anew each time. Copies share one sequence: two that are given a copy each do not wait for
// the same times.
inline Random make_random() {
  auto engine = std::make_shared<std::minstd_rand>(std::random_device{}());
  return [engine] { return std::uniform_real_distribution<double>(0, 1)(*engine); };
}

class Backoff {
 public:
  using Time = std::chrono::milliseconds;

  Backoff(Time first, Time longest, Random random)
      : first_(std::min(first, longest / 2)),
        longest_(longest),
        base_(first_),
        random_(std::move(random)) {}

  // Between one and two times the base, which then doubles (03, 5.4); never more than `longest`,
  // unless the server asks for that. The base ends at half of it, so that the longest pauses differ
  // as much as the others.
  Time next(std::optional<Time> asked = {}) {
    const Time pause = scaled(base_, 1 + random_());
    base_ = std::min(base_ * 2, longest_ / 2);
    if (!asked) return pause;
    // A server that is unwell asks all its clients for the same time.
    return std::max(pause, scaled(*asked, 1 + random_() / 2));
  }
  void reset() { base_ = first_; }

 private:
  static Time scaled(Time time, double factor) {
    return Time(static_cast<Time::rep>(static_cast<double>(time.count()) * factor));
  }

  Time first_, longest_, base_;
  Random random_;
};

}  // namespace mnet::kube
