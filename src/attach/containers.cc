#include "attach/containers.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/ports.h"
#include "base/error.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/caller.h"
#include "cni/error.h"
#include "model/netconf.h"

namespace mnet::attach {
namespace {

Error try_again(Error why) {
  if (why.code() == Errc::kCancelled) return why;
  return cni::coded(cni::Code::kTryAgainLater,
                    cat("another daemon may work on the same container: ", why.text()));
}

}  // namespace

aio::Task<Containers::Guard> Containers::lock(std::string container_id) {
  ++arrivals_;
  for (Witness* witness : witnesses_) witness->seen_.insert(container_id);
  Guard guard;
  MNET_CO_TRY(auto&& turn, co_await turns_.lock(container_id));
  guard.turn = std::move(turn);
  if (others_ == nullptr) co_return std::move(guard);
  auto locked = co_await others_->lock(std::move(container_id));
  if (!locked) co_return try_again(std::move(locked).error());
  guard.lock = *std::move(locked);
  co_return std::move(guard);
}

aio::Task<std::shared_ptr<void>> Containers::lock_all() {
  if (others_ == nullptr) co_return std::shared_ptr<void>();
  auto locked = co_await others_->lock_all();
  if (!locked) co_return try_again(std::move(locked).error());
  co_return *std::move(locked);
}

bool Containers::is_busy(const std::string& container_id) const {
  return turns_.queue_length(container_id) > 0;
}

std::optional<std::size_t> Containers::quiet_since() const {
  if (!adds_.empty() || !turns_.is_free()) return std::nullopt;
  return arrivals_;
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
