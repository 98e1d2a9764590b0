// How a request that fails for the moment is repeated, and for how long.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "base/result.h"
#include "kube/backoff.h"
#include "kube/reply.h"

namespace mnet::kube {

struct Retries {
  std::chrono::milliseconds per_call{5000};  // from when its turn comes
  std::chrono::milliseconds first_pause{250}, longest_pause{5000};
  std::chrono::milliseconds total{10'000};
  // A server that has just started knows no roles yet and forbids everything: so long a 403 is not
  // final.
  std::chrono::milliseconds denial{5000};
};

// One request and its repeats.
class Attempts {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Attempts(const Retries& rules, Random random, Time began)
      : rules_(rules),
        began_(began),
        backoff_(rules.first_pause, rules.longest_pause, std::move(random)) {}

  Time end() const { return began_ + rules_.total; }

  // How long to wait before asking again; none: the answer is final, or there is no time left.
  std::optional<std::chrono::milliseconds> pause_after(const Result<Reply>& reply, Time now) {
    const bool may_pass =
        is_transient(reply) || (reply && reply->status == 403 && now - began_ < rules_.denial);
    if (!may_pass) return std::nullopt;
    const auto pause = backoff_.next(reply ? reply->retry_after : std::nullopt);
    if (now + pause >= end()) return std::nullopt;
    return pause;
  }

 private:
  const Retries rules_;
  const Time began_;
  Backoff backoff_;
};

}  // namespace mnet::kube
