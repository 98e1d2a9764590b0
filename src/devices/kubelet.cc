#include "devices/kubelet.h"

#include <cerrno>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "aio/task.h"
#include "base/backoff.h"
#include "base/error.h"
#include "base/log.h"
#include "base/try.h"
#include "devices/grpc.h"
#include "devices/pod_resources.h"

namespace mnet::devices {
namespace {

using namespace std::chrono_literals;

GrpcCall call_to(const std::string& socket, std::string method, aio::Deadline deadline) {
  GrpcCall call;
  call.socket = socket;
  call.method = std::move(method);
  call.deadline = deadline;
  return call;
}

}  // namespace

Kubelet::Kubelet(const aio::asio::any_io_executor& executor, KubeletSettings settings,
                 const Log& log)
    : settings_(std::move(settings)),
      calls_(executor, log),
      lists_(calls_, "devices of pods", [this](Pods wanted) { return list(std::move(wanted)); }),
      offers_(calls_, "devices of the node", [this](Nothing) { return allocatable(); }) {}

bool Kubelet::is_absent(const Error& error) { return error.os_errno() == ENOENT; }

aio::Task<DeviceIds> Kubelet::devices_of(PodName pod) {
  MNET_CO_TRY_VOID(check_name(pod));
  MNET_CO_TRY(auto&& listed,
              co_await lists_.ask([pod](Pods& wanted) { wanted.insert(pod); }, end_from_now()));
  const auto found = listed->find(pod);
  co_return found == listed->end() ? DeviceIds() : found->second;
}

aio::Task<std::shared_ptr<const Offer>> Kubelet::offer() {
  return offers_.ask([](Nothing&) {}, end_from_now());
}

// The kubelet refuses calls while it starts and when there are too many; its socket file stays
// behind when it ends.
template <typename T>
aio::Task<T> Kubelet::patiently(std::function<aio::Task<T>(aio::Deadline)> attempt) {
  const aio::Deadline end = end_from_now();
  Backoff backoff(100ms, 1s, settings_.random);
  for (;;) {
    auto answer = co_await attempt(end);
    if (answer || answer.error().code() != Errc::kUnavailable || is_absent(answer.error())) {
      co_return answer;
    }
    const auto pause = backoff.next();
    if (settings_.timer->now() + pause >= end) co_return answer;
    MNET_CO_TRY_VOID(co_await settings_.timer->sleep_for(pause));
  }
}

aio::Task<Kubelet::Listed> Kubelet::list(Pods wanted) {
  return patiently<Listed>([this, wanted = std::move(wanted)](aio::Deadline deadline) {
    return list_once(wanted, deadline);
  });
}

aio::Task<Kubelet::Listed> Kubelet::list_once(Pods wanted, aio::Deadline deadline) {
  const auto reader = std::make_shared<PodResourcesReader>(std::move(wanted));
  GrpcCall call = call_to(settings_.socket, "/v1.PodResourcesLister/List", deadline);
  call.max_bytes = settings_.most_of_list;
  call.sink = [reader](std::string_view bytes) { return reader->feed(bytes); };
  MNET_CO_TRY_VOID(co_await call_grpc(std::move(call)));
  co_return reader->finish();
}

aio::Task<Offer> Kubelet::allocatable() {
  return patiently<Offer>([this](aio::Deadline deadline) { return allocatable_once(deadline); });
}

aio::Task<Offer> Kubelet::allocatable_once(aio::Deadline deadline) {
  const auto reader = std::make_shared<AllocatableReader>();
  GrpcCall call =
      call_to(settings_.socket, "/v1.PodResourcesLister/GetAllocatableResources", deadline);
  call.sink = [reader](std::string_view bytes) { return reader->feed(bytes); };
  MNET_CO_TRY_VOID(co_await call_grpc(std::move(call)));
  co_return reader->finish();
}

}  // namespace mnet::devices
