// Deletes objects of manifests from the API server and waits until they are gone (04, 1.10,
// "Delete"). Says what it did.
#pragma once

#include <string>
#include <vector>

#include "aio/task.h"
#include "cni_node/object_server.h"
#include "cni_node/objects.h"
#include "nodetools/output.h"

namespace mnet::cni_node {

class ObjectRemover {
 public:
  // Both must outlive the tasks.
  ObjectRemover(ObjectServer& server, nodetools::Output& output)
      : server_(server), output_(output) {}

  // Deletes all in reverse order and continues after failures; the error has all of them. An object
  // that does not exist is a success. `about` names the file in diagnostics.
  aio::Task<void> remove(std::string about, std::vector<ObjectName> objects);

  // Objects that were deleted so far.
  int changes() const { return changes_; }

 private:
  aio::Task<void> remove_one(std::string about, ObjectName id);
  aio::Task<void> wait_gone(std::string about, Target target, std::string uid);

  ObjectServer& server_;
  nodetools::Output& output_;
  int changes_ = 0;
};

}  // namespace mnet::cni_node
