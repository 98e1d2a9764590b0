// ADD of one network for a running container.
#pragma once

#include <optional>

#include "aio/task.h"
#include "attach/containers.h"
#include "chain/chain.h"
#include "cni/result.h"
#include "hotplug/container.h"
#include "model/attachment_record.h"

namespace mnet::hotplug {

class PlugIn {
 public:
  // Both must outlive it.
  PlugIn(Container& container, attach::Containers::RunningAdd& running)
      : container_(container), running_(running) {}

  aio::Task<cni::NetResult> run();

 private:
  aio::Task<std::optional<cni::NetResult>> settle_recorded();
  bool is_the_same(const model::RecordedAttachment& there) const;
  aio::Task<void> clear_away();
  aio::Task<void> expect_free();
  aio::Task<cni::NetResult> attach();
  aio::Task<cni::NetResult> run_plugins();
  aio::Task<void> undo();
  void announce(const cni::NetResult& result);
  aio::Task<void> add_status(cni::NetResult result);
  bool gone() const { return container_.job.base.request.caller->gone(); }
  Error with_network(const Error& error) const;

  Container& container_;
  attach::Containers::RunningAdd& running_;
  model::AttachmentPtr attachment_;
  bool has_run_ = false;  // one of its plugins
};

}  // namespace mnet::hotplug
