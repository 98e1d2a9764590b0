// How a request that fails for the moment is repeated, and for how long.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "base/backoff.h"
#include "base/result.h"
#include "kube/reply.h"

namespace mnet::kube {

struct Retries {
  using Time = std::chrono::milliseconds;
  Time per_call{5000};  // from when its turn comes
  Time first_pause{250}, longest_pause{5000};
  Time total{10'000};
  // A server that has just started knows no roles yet and forbids everything: so long a 403 is not
  // final.
  Time denial{5000};
  int most = std::numeric_limits<int>::max();  // attempts
  bool repeats_conflicts = false;              // 409
  Time longest_asked = Time::max();            // a longer Retry-After is cut
  Jitter jitter = {};
};

// As the tools of the node repeat requests (04, 1.10, "Retry").
constexpr Retries tool_retries(int most = 5, Retries::Time per_call = Retries::Time(30'000)) {
  return {.per_call = per_call,
          .first_pause = Retries::Time(500),
          .longest_pause = Retries::Time(4800),
          .total = Retries::Time(3'600'000),
          .denial = Retries::Time(0),
          .most = most,
          .repeats_conflicts = true,
          .longest_asked = Retries::Time(30'000),
          .jitter = kFifth};
}

// One request and its repeats.
class Attempts {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Attempts(const Retries& rules, Random random, Time began)
      : rules_(rules),
        began_(began),
        backoff_(rules.first_pause, rules.longest_pause, std::move(random), rules.jitter) {}

  Time end() const { return began_ + rules_.total; }

  // How long to wait before asking again; none: the answer is final, or there is no time left.
  std::optional<Retries::Time> pause_after(const Result<Reply>& reply, Time now) {
    if (++made_ >= rules_.most || !may_pass(reply, now)) return std::nullopt;
    std::optional<Retries::Time> asked;
    if (reply && reply->retry_after) {
      asked = std::min<Retries::Time>(*reply->retry_after, rules_.longest_asked);
    }
    const auto pause = backoff_.next(asked);
    if (now + pause >= end()) return std::nullopt;
    return pause;
  }

 private:
  bool may_pass(const Result<Reply>& reply, Time now) const {
    if (is_transient(reply)) return true;
    if (!reply) return false;
    if (reply->status == 403) {
      return now - began_ < rules_.denial && !parse_status(403, reply->body).is_terminating;
    }
    return reply->status == 409 && rules_.repeats_conflicts;
  }

  const Retries rules_;
  const Time began_;
  Backoff backoff_;
  int made_ = 0;
};

}  // namespace mnet::kube
