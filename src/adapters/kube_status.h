// Writes the network status of pods to the Kubernetes API (02, 5.7): one patch of one annotation,
// or what upstream does where only that is allowed.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "aio/keyed_lock.h"
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

  struct Timing {
    Time per_call{5000};
    Time first_pause{250};
    Time longest_pause{5000};
    Time refusal{600'000};      // before a forbidden patch is tried again
    Time denial{10'000};        // only then it is final that everything is forbidden
    Time total{30'000};         // how long a pod waits for its status
    Time total_of_plain{2000};  // the same for one that asks for no networks
  };

  // API and timer must outlive it.
  KubeStatus(kube::Api& api, Log log, Timing timing, Random random = make_random(),
             aio::Timer& timer = aio::Timer::steady());
  KubeStatus(kube::Api& api, Log log) : KubeStatus(api, std::move(log), Timing()) {}

  // A pod that is gone is not an error; kConflict: it was replaced. Failures that may pass are
  // tried again at growing intervals until the time is over; the first one is logged.
  aio::Task<void> write(model::PodObjectPtr pod, std::string text, Log log);
  // One attempt, after the requests that pods wait for.
  aio::Task<std::optional<attach::StatusDelay>> attempt(model::PodObjectPtr pod, std::string text,
                                                        Log log);

  // Reads and changes it, with the resourceVersion of what was read: other writers are not written
  // over. No failure is forgiven.
  aio::Task<void> edit(model::PodObjectPtr pod, attach::StatusEdit edit);

  // As it is on the server now; none if the pod has none, is gone or was replaced.
  aio::Task<std::optional<std::string>> find(model::PodObjectPtr pod);

 private:
  enum class Way : std::uint8_t { kDone, kForbidden };
  struct Job;

  // In the coroutines below `job` is a local of work(), which awaits them.
  Job make_job(model::PodObjectPtr pod, std::string text, Time total) const;
  aio::Task<void> work(Job job);
  aio::Task<void> write_once(Job* job);
  aio::Task<void> write_in_turn(Job* job);
  aio::Task<Way> patch(Job* job);
  // Again and again while other clients write at the same time.
  using Step = aio::Task<bool> (KubeStatus::*)(Job*);
  aio::Task<void> repeat(Job* job, Step step);
  aio::Task<bool> put_once(Job* job);
  aio::Task<bool> edit_once(Job* job);
  static Result<std::optional<std::string>> edited(const Job& job, const std::string* present);
  aio::Task<std::optional<json::Object>> read(Job* job);
  // An object to be put back, with its turn if it is large.
  struct Whole {
    aio::KeyedLock::Guard turn = {};
    std::optional<json::Object> object = {};
  };
  aio::Task<Whole> read_whole(Job* job);
  aio::Task<kube::Reply> fetch(Job* job);
  aio::Task<kube::Reply> call(Job* job, kube::Call call);
  // What is left of a failure for the ADD that waited.
  Result<void> conclude(const Job& job, Result<void> failed) const;
  // Whether another attempt may succeed.
  static bool may_pass(const Job& job, const Error& why);
  // How long to wait before the next attempt; none: this failure is the end.
  std::optional<Time> pause_after(Job& job, const Error& why);
  void tell(Job& job, const Error& why) const;
  void say_gone(Job& job) const;

  kube::Api& api_;
  const Log log_;
  const Timing timing_;
  const Random random_;
  aio::Timer& timer_;
  Backoff denials_;  // of all pods, since one was written last
  std::chrono::steady_clock::time_point forbidden_until_ = {};
  aio::KeyedLock turns_;  // by pod: attempts that overlap might arrive in another order
};

}  // namespace mnet::adapters
