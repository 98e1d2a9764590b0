// Pauses between attempts: they double, with jitter so that a whole cluster does not come back at
// once.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "base/random_number.h"

namespace mnet {

// A number from 0 to 1; tests bring their own.
using Random = std::function<double()>;

// Each call seeds another sequence. Copies share one sequence, so that their owners do not wait for
// the same times.
inline Random make_random() {
  auto engine = std::make_shared<std::minstd_rand>(random_number());
  return [engine] { return std::uniform_real_distribution<double>(0, 1)(*engine); };
}

// Factors of a pause.
struct Jitter {
  double least = 1, most = 2;
  double asked = 1.5;  // of a time that the server asks for: from 1 to this
};
// As chapter 04 has it: longer or shorter by up to a fifth.
inline constexpr Jitter kFifth{.least = 0.8, .most = 1.2, .asked = 1.2};
// None: where nothing is shared that many would come back to at once.
inline constexpr Jitter kExact{.least = 1, .most = 1, .asked = 1};

class Backoff {
 public:
  using Time = std::chrono::milliseconds;

  // No pause is longer than `longest`, unless the server asks for that. The base ends where its
  // longest pause is `longest`, so that the longest pauses differ as much as the others.
  Backoff(Time first, Time longest, Random random, Jitter jitter = {})
      : jitter_(jitter),
        last_(scaled(longest, 1 / jitter.most)),
        first_(std::min(first, last_)),
        base_(first_),
        random_(std::move(random)) {}

  // The base times a factor; then the base doubles (03, 5.4).
  Time next(std::optional<Time> asked = {}) {
    const Time pause = scaled(base_, between(jitter_.least, jitter_.most));
    base_ = std::min(base_ * 2, last_);
    if (!asked) return pause;
    // A server that is unwell asks all its clients for the same time.
    return std::max(pause, scaled(*asked, between(1, jitter_.asked)));
  }
  void reset() { base_ = first_; }

 private:
  static Time scaled(Time time, double factor) { return std::chrono::round<Time>(time * factor); }
  double between(double least, double most) const { return least + (most - least) * random_(); }

  Jitter jitter_;
  Time last_, first_, base_;
  Random random_;
};

}  // namespace mnet
