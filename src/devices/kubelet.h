// Asks the kubelet of this node which devices it gave to pods (02, 8.2). Many requests at once cost
// it few calls, because it serves 100 a second.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "aio/group.h"
#include "aio/task.h"
#include "aio/timer.h"
#include "base/backoff.h"
#include "base/error.h"
#include "base/log.h"
#include "devices/pod_resources.h"
#include "devices/proto_stream.h"
#include "devices/shared_call.h"

namespace mnet::devices {

struct KubeletSettings {
  std::string socket = {};
  // Time of one request, from its beginning; errors that may pass are retried within it.
  std::chrono::milliseconds time{10'000};
  // The largest answer to a list. It names every container of the node, and authors of pods may
  // make thousands: twenty pods can fill 16 MiB. Pods that are not asked for are skipped as they
  // come.
  std::size_t most_of_list = ProtoStream::kLargest;
  Random random = make_random();
  aio::Timer* timer = &aio::Timer::steady();
};

class Kubelet {
 public:
  Kubelet(const aio::asio::any_io_executor& executor, KubeletSettings settings, const Log& log);

  // The devices of its containers; empty if the kubelet does not list the pod.
  aio::Task<DeviceIds> devices_of(PodName pod);
  // Devices that the node has, whether or not a pod uses them.
  aio::Task<std::shared_ptr<const Offer>> offer();
  // Whether a call failed because there is no socket.
  static bool is_absent(const Error& error);

  // Waiting requests end with kCancelled, and no call begins any more.
  void cancel() { calls_.cancel(); }
  // Ends when no call runs. Await it before this object goes.
  aio::Task<void> wait_ended(aio::Deadline deadline) { return calls_.join(deadline); }

 private:
  using Pods = std::set<PodName>;
  using Listed = std::map<PodName, DeviceIds>;
  struct Nothing {};

  aio::Task<Listed> list(Pods wanted);
  aio::Task<Listed> list_once(Pods wanted, aio::Deadline deadline);
  aio::Task<Offer> allocatable();
  aio::Task<Offer> allocatable_once(aio::Deadline deadline);
  template <typename T>
  aio::Task<T> patiently(std::function<aio::Task<T>(aio::Deadline)> attempt);
  aio::Deadline end_from_now() const { return settings_.timer->now() + settings_.time; }

  const KubeletSettings settings_;
  aio::Group calls_;
  SharedCall<Pods, Listed> lists_;
  SharedCall<Nothing, Offer> offers_;
};

}  // namespace mnet::devices
