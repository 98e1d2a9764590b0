#include "attach/containers.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "chain/caller.h"
#include "model/netconf.h"

namespace mnet::attach {

aio::Task<Containers::Guard> Containers::lock(std::string container_id) {
  for (Witness* witness : witnesses_) witness->seen_.insert(container_id);
  return locks_.lock(std::move(container_id));
}

bool Containers::is_busy(const std::string& container_id) const {
  return locks_.queue_length(container_id) > 0;
}

void Containers::end_adds(const std::string& container_id) {
  for (RunningAdd::Item& item : adds_) {
    if (item.container_id == container_id) item.caller->leave();
  }
}

std::vector<model::AttachmentId> Containers::planned() const {
  std::vector<model::AttachmentId> all;
  for (const RunningAdd::Item& item : adds_) {
    all.insert(all.end(), item.planned.begin(), item.planned.end());
  }
  return all;
}

Containers::RunningAdd::RunningAdd(Containers& containers, std::string container_id,
                                   std::shared_ptr<chain::Caller> caller)
    : containers_(containers),
      place_(containers.adds_.insert(containers.adds_.end(),
                                     {std::move(container_id), std::move(caller), {}})) {}

Containers::RunningAdd::~RunningAdd() { containers_.adds_.erase(place_); }

Containers::Witness::Witness(Containers& containers) : containers_(containers) {
  containers.witnesses_.insert(this);
  for (const RunningAdd::Item& add : containers.adds_) seen_.insert(add.container_id);
}

Containers::Witness::~Witness() { containers_.witnesses_.erase(this); }

bool Containers::Witness::saw(const std::string& container_id) const {
  return seen_.contains(container_id) || containers_.is_busy(container_id);
}

}  // namespace mnet::attach
