// Whether the namespace of a container is still there: as the pods' namespaces are looked up for an
// ADD, and if it is not seen there, below the host's root.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "aio/blocking_pool.h"
#include "attach/ports.h"

namespace mnet::adapters {

class HostLinks : public attach::Links {
 public:
  // The pool must outlive it. `mount_namespace` as for NetNsLinks; `root`: the host's; empty: ours.
  HostLinks(aio::BlockingPool& pool, std::string mount_namespace, std::string root)
      : pool_(pool), mount_namespace_(std::move(mount_namespace)), root_(std::move(root)) {}

  // Only finds the namespace. kNotFound only if there is no such path in either view.
  aio::Task<attach::TakenNames> look(std::string netns, std::vector<std::string> ifnames) override;

 private:
  aio::BlockingPool& pool_;
  std::string mount_namespace_, root_;
};

}  // namespace mnet::adapters
