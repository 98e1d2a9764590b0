// The DaemonSet that `cni-node watch` runs for: whether it is still wanted when we are stopped
// (04, 3.6). A pod ends in every rollout; what it installed must go only with the DaemonSet.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "aio/task.h"
#include "aio/timer.h"
#include "kube/api.h"

namespace mnet::cni_node {

class Owner {
 public:
  // The API must outlive the tasks.
  Owner(kube::Api& api, const std::string& ns, const std::string& name,
        aio::Timer& timer = aio::Timer::steady());

  // Asks again and again until it knows the DaemonSet, or is cancelled.
  aio::Task<void> learn();

  enum class Fate : std::uint8_t {
    kStays,  // or it is unknown
    kGone,
    kForbidden,  // we could read it once and are refused now: our rights went with it
  };
  struct Verdict {
    Fate fate;
    std::string why;
  };
  // One request; where it is forbidden, more of them for ten seconds.
  aio::Task<Verdict> judge();

 private:
  Verdict verdict_on(const kube::Reply& reply) const;

  kube::Api& api_;
  const std::string path_, label_;
  aio::Timer& timer_;
  std::string uid_;  // empty: not known
};

}  // namespace mnet::cni_node
