// Writes the network status of pods to the Kubernetes API (02, 5.7): one patch of one annotation,
// or what upstream does where only that is allowed.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "aio/task.h"
#include "attach/source.h"
#include "base/log.h"
#include "kube/kube.h"

namespace mnet::adapters {

class KubeStatus {
 public:
  struct Timing {
    using Time = std::chrono::milliseconds;
    Time per_call{5000}, pause{250}, total{30'000};
    Time refusal{600'000};  // how long a forbidden patch is not tried again
    Time denial{10'000};    // how long it is not final that everything is forbidden
  };

  // The API must outlive it.
  KubeStatus(kube::Api& api, Log log, Timing timing);
  KubeStatus(kube::Api& api, Log log) : KubeStatus(api, std::move(log), Timing()) {}

  // A pod that is gone is no error; kConflict: it was replaced. Everything that may pass is tried
  // again until the time is over.
  aio::Task<void> write(attach::PodObjectPtr pod, std::string text);

  // As it is on the server now; none if the pod has none, is gone or was replaced.
  aio::Task<std::optional<std::string>> find(attach::PodObjectPtr pod);

 private:
  enum class Way : std::uint8_t { kDone, kForbidden };

  aio::Task<void> write_once(attach::PodObjectPtr pod, std::string text, aio::Deadline end);
  aio::Task<Way> patch(attach::PodObjectPtr pod, std::string text, aio::Deadline end);
  aio::Task<void> put(attach::PodObjectPtr pod, std::string text, aio::Deadline end);
  aio::Task<bool> put_once(attach::PodObjectPtr pod, std::string text, aio::Deadline end);
  aio::Task<std::optional<json::Object>> read(attach::PodObjectPtr pod, aio::Deadline end);
  aio::Task<kube::Reply> call(kube::Call call, aio::Deadline end);
  void say_gone(const attach::PodObject& pod) const;

  kube::Api& api_;
  const Log log_;
  const Timing timing_;
  kube::Random random_ = kube::make_random();
  std::chrono::steady_clock::time_point forbidden_until_ = {};
};

}  // namespace mnet::adapters
