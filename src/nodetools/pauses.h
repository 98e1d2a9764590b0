// Pauses between attempts as chapter 04 has them: doubling up to a longest one, each longer or
// shorter by up to a fifth.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include "kube/backoff.h"

namespace mnet::nodetools {

class Pauses {
 public:
  using Time = std::chrono::milliseconds;

  Pauses(Time first, Time longest, kube::Random random = kube::make_random())
      : first_(first), longest_(longest), base_(first), random_(std::move(random)) {}

  Time next() {
    const double factor = 0.8 + 0.4 * random_();
    const Time pause(static_cast<Time::rep>(static_cast<double>(base_.count()) * factor));
    base_ = std::min(base_ * 2, longest_);
    return pause;
  }
  void reset() { base_ = first_; }

 private:
  Time first_, longest_, base_;
  kube::Random random_;
};

}  // namespace mnet::nodetools
