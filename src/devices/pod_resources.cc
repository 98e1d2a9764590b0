#include "devices/pod_resources.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "devices/proto_stream.h"

namespace mnet::devices {
namespace {

bool is(FieldPath path, const auto& numbers) { return std::ranges::equal(path, numbers); }

// k8s.io/kubelet/pkg/apis/podresources/v1/api.proto
constexpr std::array kPod{1u}, kOffered{1u};
constexpr std::array kPodName{1u, 1u}, kNamespace{1u, 2u}, kContainer{1u, 3u};
constexpr std::array kDevices{1u, 3u, 2u};
constexpr std::array kResource{1u, 3u, 2u, 1u}, kId{1u, 3u, 2u, 2u};
constexpr std::array kOfferedResource{1u, 1u}, kOfferedId{1u, 2u};

void append(DeviceIds& to, DeviceIds from) {
  for (auto& [resource, ids] : from) {
    std::vector<std::string>& all = to[resource];
    std::ranges::move(ids, std::back_inserter(all));
  }
}

Error too_many() {
  return Error(Errc::kProtocol, cat("the kubelet lists more than ", kMostDevices,
                                    " devices, or more than ", kMostBytes, " bytes of names"));
}

}  // namespace

Result<void> check_name(const PodName& pod) {
  if (!pod.name.empty() && !pod.ns.empty()) return {};
  return Error(Errc::kInvalid, "Pod name or namespace cannot be empty");
}

bool PodResourcesReader::is_unwanted() const {
  return !pod_.ns.empty() && !pod_.name.empty() && !wanted_.contains(pod_);
}

FieldUse PodResourcesReader::use(FieldPath path) {
  if (is(path, kPod)) return FieldUse::kEnter;
  if (is_unwanted()) return FieldUse::kSkip;
  if (is(path, kContainer) || is(path, kDevices)) return FieldUse::kEnter;
  const bool is_text =
      is(path, kPodName) || is(path, kNamespace) || is(path, kResource) || is(path, kId);
  return is_text ? FieldUse::kText : FieldUse::kSkip;
}

Result<void> PodResourcesReader::text(FieldPath path, std::string text) {
  of_pod_bytes_ += text.size();
  if (kept_bytes_ + of_pod_bytes_ > kMostBytes) return too_many();
  if (is(path, kPodName)) {
    pod_.name = std::move(text);
  } else if (is(path, kNamespace)) {
    pod_.ns = std::move(text);
  } else if (is(path, kResource)) {
    resource_ = std::move(text);
  } else {
    if (kept_ + ++of_pod_count_ > kMostDevices) return too_many();
    ids_.push_back(std::move(text));
  }
  return {};
}

// One resource may come several times in a container, once for each NUMA node: all of its ids are
// sorted together.
void PodResourcesReader::end(FieldPath path) {
  if (is(path, kDevices)) {
    const std::string resource = std::exchange(resource_, {});
    std::vector<std::string> ids = std::exchange(ids_, {});
    if (!ids.empty()) std::ranges::move(ids, std::back_inserter(of_container_[resource]));
  } else if (is(path, kContainer)) {
    for (auto& [resource, ids] : of_container_) std::ranges::sort(ids);
    append(of_pod_, std::exchange(of_container_, {}));
  } else if (is(path, kPod)) {
    const PodName pod = std::exchange(pod_, {});
    DeviceIds devices = std::exchange(of_pod_, {});
    const std::size_t count = std::exchange(of_pod_count_, 0);
    const std::size_t bytes = std::exchange(of_pod_bytes_, 0);
    if (!wanted_.contains(pod)) return;
    append(found_[pod], std::move(devices));
    kept_ += count;
    kept_bytes_ += bytes;
  }
}

Result<std::map<PodName, DeviceIds>> PodResourcesReader::finish() {
  MNET_TRY_VOID(stream_.finish());
  return std::move(found_);
}

FieldUse AllocatableReader::use(FieldPath path) {
  if (is(path, kOffered)) return FieldUse::kEnter;
  const bool is_text = is(path, kOfferedResource) || is(path, kOfferedId);
  return is_text ? FieldUse::kText : FieldUse::kSkip;
}

Result<void> AllocatableReader::text(FieldPath path, std::string text) {
  if (is(path, kOfferedId)) {
    ++count_;
  } else {
    resource_ = std::move(text);
  }
  const bool fits = offer_.size() < kMostDevices && kept_bytes_ <= kMostBytes;
  return fits ? Result<void>() : too_many();
}

void AllocatableReader::end(FieldPath path) {
  if (!is(path, kOffered)) return;
  const auto [offered, is_new] = offer_.try_emplace(std::exchange(resource_, {}));
  if (is_new) kept_bytes_ += offered->first.size();
  offered->second += std::exchange(count_, 0);
}

Result<Offer> AllocatableReader::finish() {
  MNET_TRY_VOID(stream_.finish());
  return std::move(offer_);
}

}  // namespace mnet::devices
