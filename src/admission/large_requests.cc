#include "admission/large_requests.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include "admission/admission.h"
#include "aio/task.h"
#include "attach/room.h"
#include "base/error.h"
#include "chain/slots.h"
#include "cni/error.h"
#include "model/network_status.h"

namespace mnet::admission {
namespace {

// A slot is so many bytes.
constexpr std::size_t kSlot = 1u << 10;

constexpr std::size_t slots_of(std::size_t weight) { return (weight + kSlot - 1) / kSlot; }

// What one request needs at most. Each byte is held up to six times while it is read and written, a
// status three times.
constexpr std::size_t kShare = slots_of(attach::kLargestWeight);
constexpr std::size_t kStatusShare = slots_of(model::kMaxStatusText);

class Given final : public attach::Room::Share {
 public:
  explicit Given(chain::Slot slots) : slots_(std::move(slots)) {}
  void keep(std::size_t weight) override { slots_.keep(slots_of(weight)); }

 private:
  chain::Slot slots_;
};

}  // namespace

LargeRequests::LargeRequests(Settings settings)
    : settings_(settings),
      requests_(Shares{.slots = 2 * kShare, .of_namespace = kShare}),
      dels_(Shares{.slots = 2 * kShare, .of_namespace = kShare}),
      statuses_(Shares{.slots = 2 * kStatusShare, .of_namespace = kStatusShare}) {}

std::size_t LargeRequests::waiting() const {
  return requests_.waiting() + dels_.waiting() + statuses_.waiting();
}

std::size_t LargeRequests::weight() const {
  return (requests_.running() + dels_.running() + statuses_.running()) * kSlot;
}

Admission& LargeRequests::room_for(attach::RoomFor purpose) {
  switch (purpose) {
    case attach::RoomFor::kDel:
      return dels_;
    case attach::RoomFor::kStatus:
      return statuses_;
    case attach::RoomFor::kRequest:
      break;
  }
  return requests_;
}

aio::Task<std::unique_ptr<attach::Room::Share>> LargeRequests::take(attach::RoomRequest request) {
  const bool is_status = request.purpose == attach::RoomFor::kStatus;
  chain::SlotRequest turn;
  turn.ticket = request.ticket;
  turn.ns = std::move(request.ns);
  turn.container_id = std::move(request.container_id);
  turn.caller = std::move(request.caller);
  turn.slots =
      std::clamp<std::size_t>(slots_of(request.weight), 1, is_status ? kStatusShare : kShare);
  turn.deadline = std::chrono::steady_clock::now() + settings_.longest_wait;
  auto slots = co_await room_for(request.purpose).acquire(std::move(turn));
  if (!slots && slots.error().code() == Errc::kTimeout) {
    co_return cni::coded(
        cni::Code::kTryAgainLater,
        "the texts of this request are large, and other large requests use all the memory set "
        "aside for them; try again later");
  }
  if (!slots) co_return std::move(slots).error();
  co_return std::make_unique<Given>(*std::move(slots));
}

// A mebibyte shared by all of them, but from 4 to 16 KiB for each.
std::size_t free_weight(std::size_t requests) {
  constexpr std::size_t kAll = 1u << 20;
  constexpr std::size_t kMost = 16u << 10;
  constexpr std::size_t kLeast = 4u << 10;
  return std::clamp(kAll / std::max<std::size_t>(1, requests), kLeast, kMost);
}

}  // namespace mnet::admission
