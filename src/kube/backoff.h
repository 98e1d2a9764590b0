// Pauses between attempts: doubling, with jitter so that a whole cluster does not come back at
// once.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>
#include <utility>

namespace mnet::kube {

// A number from 0 to 1; tests bring their own.
using Random = std::function<double()>;

inline Random make_random() {
  return [engine = std::minstd_rand(std::random_device{}())]() mutable {
    return std::uniform_real_distribution<double>(0, 1)(engine);
  };
}

class Backoff {
 public:
  using Time = std::chrono::milliseconds;

  Backoff(Time first, Time longest, Random random)
      : first_(first), longest_(longest), base_(first), random_(std::move(random)) {}

  // Between one and two times the base, which then doubles (03, 5.4); never more than `longest`.
  Time next() {
    const auto jittered =
        static_cast<Time::rep>(static_cast<double>(base_.count()) * (1 + random_()));
    base_ = std::min(base_ * 2, longest_);
    return std::min(Time(jittered), longest_);
  }
  void reset() { base_ = first_; }

 private:
  Time first_, longest_, base_;
  Random random_;
};

}  // namespace mnet::kube
