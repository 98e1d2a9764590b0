// DEL of one network of a running container.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "aio/task.h"
#include "hotplug/container.h"
#include "model/attachment_record.h"

namespace mnet::hotplug {

class Unplug {
 public:
  // The container must outlive it.
  explicit Unplug(Container& container) : container_(container) {}

  aio::Task<void> run();
  // The same for an attachment that the pod's annotation no longer names. An attachment that is
  // already gone is fine.
  aio::Task<void> run_by_annotation();

 private:
  bool is_part_of_another() const;
  Result<void> check_protected(const model::RecordedAttachment& there) const;
  aio::Task<void> remove_recorded();
  aio::Task<void> take_down(model::AttachmentPtr attachment, std::uint64_t link_index);
  aio::Task<std::optional<std::string>> find_survivor(std::uint64_t link_index);
  aio::Task<void> unlist();
  aio::Task<void> drop_status(model::RecordedAttachment removed);

  Container& container_;
};

}  // namespace mnet::hotplug
