// Network status of pods, written beside their manifests in the shape the API's pod would show:
// `status/<namespace>/<pod>.json`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "base/log.h"
#include "manifests/objects.h"

namespace mnet::manifests {

class StatusFiles {
 public:
  // `elsewhere`: a directory for them where the folder is read-only (a volume of a ConfigMap is);
  // empty: that is an error. The pool must outlive the tasks.
  StatusFiles(const std::string& folder, aio::BlockingPool& pool, Log log,
              std::string elsewhere = {});

  // Replaces what was written for a pod of that name; on disk when this ends. kInvalid for names
  // that Kubernetes does not allow; kNotFound if the folder is missing, which is not made. A name
  // of more than 250 bytes is too long for a file name.
  aio::Task<void> write(PodRef pod, std::string network_status);

  // What was written for this pod; none if there is nothing, or only of another with that name: one
  // with another UID. A file that we did not write is kProtocol.
  aio::Task<std::optional<std::string>> find(PodRef pod);

  // Removes it, unless it belongs to another pod: one with another UID. What is not there is fine.
  aio::Task<void> remove(PodRef pod);

  // The pods that have one in the folder, not elsewhere. Files that we did not write are left out.
  aio::Task<std::vector<PodRef>> list();

 private:
  const std::string folder_;
  aio::BlockingPool& pool_;
  const Log log_;
  const std::string elsewhere_;
  bool is_elsewhere_ = false;  // that they are written there was logged
};

}  // namespace mnet::manifests
