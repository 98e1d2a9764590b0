// Links in a pod's network namespace, looked at from a thread of the pool.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aio/blocking_pool.h"
#include "attach/ports.h"

namespace mnet::adapters {

// Links::look() for callers that run on a thread of the pool already.
Result<attach::TakenNames> find_taken_names(const std::string& mount_namespace,
                                            const std::string& netns,
                                            const std::vector<std::string>& ifnames);

class NetNsLinks : public attach::Links, public attach::LinkNames {
 public:
  // The pool must outlive it. `mount_namespace`: where the paths of namespaces are looked up;
  // empty: here (03, 7).
  NetNsLinks(aio::BlockingPool& pool, std::string mount_namespace)
      : pool_(pool), mount_namespace_(std::move(mount_namespace)) {}

  aio::Task<attach::TakenNames> look(std::string netns, std::vector<std::string> ifnames) override;
  aio::Task<std::vector<attach::Link>> list(std::string netns) override;
  aio::Task<void> rename(std::string netns, std::uint64_t index, std::string name) override;

 private:
  aio::BlockingPool& pool_;
  std::string mount_namespace_;
};

}  // namespace mnet::adapters
