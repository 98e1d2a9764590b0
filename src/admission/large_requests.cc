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

namespace mnet::admission {
namespace {

// A slot is so many bytes.
constexpr std::size_t kSlot = 1u << 10;
constexpr std::size_t kLargest = attach::kLargestWeight / kSlot;

// Room for 2 MiB. ADDs take three quarters of it at most, and a namespace that holds some leaves a
// quarter to others. Each byte is held up to six times while it is read and written.
constexpr Shares kShares{
    .slots = 2048, .kept_for_del = 512, .left_to_others = 512, .largest = kLargest};
static_assert(kLargest <= kShares.slots - kShares.kept_for_del);

}  // namespace

LargeRequests::LargeRequests(Settings settings) : settings_(settings), room_(kShares) {}

std::size_t LargeRequests::weight() const { return room_.running() * kSlot; }

aio::Task<std::shared_ptr<void>> LargeRequests::take(attach::RoomRequest request) {
  chain::SlotRequest turn;
  turn.ticket = request.ticket;
  turn.ns = std::move(request.ns);
  turn.container_id = std::move(request.container_id);
  turn.is_del = request.is_del;
  turn.caller = std::move(request.caller);
  turn.slots = std::clamp<std::size_t>((request.weight + kSlot - 1) / kSlot, 1, kLargest);
  turn.deadline = std::chrono::steady_clock::now() + settings_.longest_wait;
  auto slots = co_await room_.acquire(std::move(turn));
  if (!slots && slots.error().code() == Errc::kTimeout) {
    co_return cni::coded(
        cni::Code::kTryAgainLater,
        "the configurations of this request are large, and other requests take all "
        "the room for such; try again later");
  }
  if (!slots) co_return std::move(slots).error();
  co_return std::make_shared<chain::Slot>(*std::move(slots));
}

// A mebibyte for all of them together, 16 KiB for each at most.
std::size_t free_weight(std::size_t requests) {
  constexpr std::size_t kAll = 1u << 20;
  constexpr std::size_t kMost = 16u << 10;
  constexpr std::size_t kLeast = 4u << 10;
  return std::clamp(kAll / std::max<std::size_t>(1, requests), kLeast, kMost);
}

}  // namespace mnet::admission
