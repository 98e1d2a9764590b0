// Default routes in a pod's network namespace, read and edited from a thread of the pool.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "aio/blocking_pool.h"
#include "attach/ports.h"

namespace mnet::adapters {

class NetNsRoutes : public attach::Routes {
 public:
  // As NetNsLinks.
  NetNsRoutes(aio::BlockingPool& pool, std::string mount_namespace)
      : pool_(pool), mount_namespace_(std::move(mount_namespace)) {}

  aio::Task<bool> has_default(std::string netns, std::string ifname, AddressFamily family) override;
  aio::Task<void> remove_defaults(std::string netns, std::string ifname,
                                  AddressFamily family) override;
  aio::Task<void> add_default(std::string netns, std::string ifname, cni::IpAddress gateway,
                              std::vector<std::string> own_ifnames) override;

 private:
  aio::BlockingPool& pool_;
  std::string mount_namespace_;
};

}  // namespace mnet::adapters
