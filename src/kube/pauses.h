// Pauses between attempts as chapter 04 has them: doubling up to a longest one, each longer or
// shorter by up to a fifth.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "kube/backoff.h"

namespace mnet::kube {

class Pauses {
 public:
  using Time = std::chrono::milliseconds;

  Pauses(Time first, Time longest, kube::Random random = kube::make_random())
      : first_(first), longest_(longest), base_(first), random_(std::move(random)) {}

  // At least as long as the server has asked for, and up to a fifth longer: it has asked others for
  // the same.
  Time next(std::optional<Time> asked = {}) {
    const Time pause = scaled(base_, 0.8 + 0.4 * random_());
    base_ = std::min(base_ * 2, longest_);
    return asked ? std::max(pause, scaled(*asked, 1 + 0.2 * random_())) : pause;
  }
  void reset() { base_ = first_; }

 private:
  static Time scaled(Time time, double factor) {
    return Time(static_cast<Time::rep>(static_cast<double>(time.count()) * factor));
  }

  Time first_, longest_, base_;
  kube::Random random_;
};

}  // namespace mnet::kube
