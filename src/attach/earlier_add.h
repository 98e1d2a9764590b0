// An earlier ADD of the same container (02, 5.1 step 5): its answer counts if what it attached
// still stands; else what it left behind goes before a new one begins.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aio/task.h"
#include "attach/add_report.h"
#include "attach/container_records.h"
#include "attach/core.h"
#include "attach/remove.h"
#include "cni/result.h"
#include "model/network_status.h"
#include "model/objects.h"

namespace mnet::attach {

class EarlierAdd {
 public:
  // Core and job must outlive it. `pod` may be missing. The container's lock is held while settle()
  // runs.
  EarlierAdd(const Core& core, const Job& job, const model::PodObjectPtr& pod)
      : core_(core), job_(job), pod_(pod), reporter_(core, job, pod), access_(core, job) {}

  // Its result if it still stands; none once nothing is left of it.
  aio::Task<std::optional<cni::NetResult>> settle();

 private:
  aio::Task<bool> still_stands(ContainerRecords record);
  aio::Task<cni::NetResult> answer(ContainerRecords record);
  aio::Task<void> report(ContainerRecords record);
  aio::Task<std::vector<model::NetworkStatus>> statuses_of(std::string network, bool is_master,
                                                           json::Value result,
                                                           json::Object capability_args);
  aio::asio::awaitable<bool> is_of_this_namespace(std::string netns, std::string boot_id,
                                                  std::uint64_t inode);
  // What of it no living container has by now.
  static aio::Task<TakeDown> still_own(Remover* remover, TakeDown down);
  aio::Task<void> clear_away(ContainerRecords record);

  const Core& core_;
  const Job& job_;
  model::PodObjectPtr pod_;
  Reporter reporter_;
  RecordAccess access_;
};

}  // namespace mnet::attach
