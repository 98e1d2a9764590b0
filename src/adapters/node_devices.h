// attach's devices on a node of Kubernetes: what the kubelet gave to a pod, by its socket or its
// checkpoint file, and what the pod's claims hold (02, 8).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "attach/ports.h"
#include "base/log.h"
#include "devices/devices.h"
#include "kube/kube.h"

namespace mnet::adapters {

struct NodeDevicesSettings {
  std::string kubelet_dir = devices::kDefaultKubeletDir;
  devices::KubeletSettings kubelet = {};  // the socket is ours
};

class NodeDevices : public attach::Devices {
 public:
  // `api` may be nullptr: then there are no claims. Both must outlive it.
  NodeDevices(const aio::asio::any_io_executor& executor, NodeDevicesSettings settings,
              aio::BlockingPool& pool, kube::Api* api, const Log& log);

  aio::Task<std::map<std::string, std::vector<std::string>>> allocated(model::PodObjectPtr pod,
                                                                       std::string request_uid,
                                                                       Log log) override;
  aio::Task<bool> is_device(model::PodObjectPtr pod, std::string resource_name, Log log) override;
  std::string name() const override;
  // What the kubelet's device plugins have, whether or not a pod uses it.
  aio::Task<std::shared_ptr<const devices::Offer>> offer() { return kubelet_.offer(); }

  // To be called, and awaited, before this goes.
  void cancel();
  aio::Task<void> wait_ended(aio::Deadline deadline);

 private:
  aio::Task<devices::DeviceIds> of_kubelet(model::PodObjectPtr pod, std::string uid);
  struct WithClaims {
    devices::DeviceIds devices;
    std::vector<std::string> unlisted;  // devices of claims that no slice lists now
  };
  // `devices` and those of the pod's claims.
  aio::Task<WithClaims> with_claims(devices::DeviceIds devices, model::PodObjectPtr pod, Log log);
  aio::Task<WithClaims> read_claims(devices::DeviceIds devices, model::PodObjectPtr pod, Log log);
  aio::Task<devices::Checkpoint> checkpoint();

  const std::string socket_, checkpoint_;
  aio::BlockingPool& pool_;
  kube::Api* api_;
  devices::Kubelet kubelet_;
  std::optional<devices::ApiObjects> objects_;
  std::optional<devices::Slices> slices_;  // if there are objects
};

}  // namespace mnet::adapters
