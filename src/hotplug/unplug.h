// DEL of one network of a container that runs.
#pragma once

#include "aio/task.h"
#include "hotplug/container.h"
#include "model/attachment_record.h"

namespace mnet::hotplug {

class Unplug {
 public:
  // The container must outlive it.
  explicit Unplug(Container& container) : container_(container) {}

  aio::Task<void> run();

 private:
  bool is_part_of_another() const;
  aio::Task<void> remove_recorded();
  aio::Task<void> unlist();
  aio::Task<void> drop_status(model::RecordedAttachment removed);

  Container& container_;
};

}  // namespace mnet::hotplug
