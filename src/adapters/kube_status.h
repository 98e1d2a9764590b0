// Writes the network status of pods to the Kubernetes API (02, 5.7): one patch of one annotation,
// or what upstream does where only that is allowed.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "aio/event.h"
#include "aio/task.h"
#include "aio/timer.h"
#include "attach/source.h"
#include "base/backoff.h"
#include "base/log.h"
#include "kube/kube.h"

namespace mnet::adapters {

class KubeStatus {
 public:
  using Time = std::chrono::milliseconds;

  // How long a status that cannot be written is tried again, and how often.
  struct Patience {
    Time total{30'000};
    Time longest_pause{5000};
    std::optional<Time> denied_pause = {};  // when all is forbidden for long; none: that is final
    std::optional<Time> urgent = {};        // so long a pod waits for it; none: to the end
  };

  struct Timing {
    Time per_call{5000};
    Time first_pause{250};
    Time refusal{600'000};                 // how long a forbidden patch is not tried again
    Time denial{10'000};                   // how long it is not final that everything is forbidden
    Patience awaited = {};                 // a pod waits for it
    Patience late{.total = Time(600'000),  // it does not wait for long
                  .longest_pause = Time(60'000),
                  .denied_pause = Time(120'000),
                  .urgent = Time(2000)};
  };

  // API and timer must outlive it.
  KubeStatus(kube::Api& api, Log log, Timing timing, Random random = make_random(),
             aio::Timer& timer = aio::Timer::steady());
  KubeStatus(kube::Api& api, Log log) : KubeStatus(api, std::move(log), Timing()) {}

  // A pod that is gone is not an error; kConflict: it was replaced. Failures that may pass are
  // tried again at growing intervals until the time is over; the first one is logged.
  aio::Task<void> write(model::PodObjectPtr pod, std::string text);
  // The same with more patience, and after the requests that pods wait for; ends when the event
  // comes, too. The event must outlive the task.
  aio::Task<void> write_late(model::PodObjectPtr pod, std::string text, aio::Event* outdated);

  // As it is on the server now; none if the pod has none, is gone or was replaced.
  aio::Task<std::optional<std::string>> find(model::PodObjectPtr pod);

 private:
  enum class Way : std::uint8_t { kDone, kForbidden };
  struct Job;

  // In the coroutines below `job` is a local of work(), which awaits them.
  Job make_job(model::PodObjectPtr pod, std::string text, const Patience& patience) const;
  aio::Task<void> work(Job job);
  aio::Task<void> write_once(Job* job);
  aio::Task<Way> patch(Job* job);
  aio::Task<void> put(Job* job);
  aio::Task<bool> put_once(Job* job);
  aio::Task<std::optional<json::Object>> read(Job* job);
  aio::Task<kube::Reply> call(Job* job, kube::Call call);
  // How long to wait before the next attempt; none: this failure is the end.
  std::optional<Time> pause_after(Job& job, const Error& why);
  aio::Task<void> pause(Job* job, Time time);
  void tell(Job& job, const Error& why) const;
  void say_gone(Job& job) const;

  kube::Api& api_;
  const Log log_;
  const Timing timing_;
  const Random random_;
  aio::Timer& timer_;
  Backoff denials_;  // of all pods, since one was written last
  std::chrono::steady_clock::time_point forbidden_until_ = {};
};

}  // namespace mnet::adapters
