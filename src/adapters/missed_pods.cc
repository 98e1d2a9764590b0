#include "adapters/missed_pods.h"

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aio/sleep.h"
#include "aio/task.h"
#include "attach/container_records.h"
#include "attach/ports.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "kube/kube.h"
#include "model/attachment_record.h"
#include "model/event_reasons.h"
#include "model/networks_annotation.h"
#include "model/objects.h"
#include "model/requested_networks.h"

namespace mnet::adapters {
namespace {

// This many are named in the log; the others have their events.
constexpr std::size_t kMostNamed = 20;

// An annotation that cannot be read counts as asking: with us in charge its pod would not have
// started.
bool asks_for_networks(const model::PodObject& pod) {
  const auto found = pod.annotations.find(model::kNetworksAnnotation);
  if (found == pod.annotations.end()) return false;
  if (pod.is_cut) return true;
  if (model::count_elements(found->second) > 0) return true;
  return !model::parse_networks_annotation(found->second, pod.ns);
}

bool is_suspect(const model::PodObject& pod) {
  return pod.is_running() && !pod.has_network_status && asks_for_networks(pod);
}

bool is_about(const model::AttachmentRecord& record, const model::PodObject& pod) {
  return record.pod_ns == pod.ns && record.pod_name == pod.name && pod.fits(record.pod_uid);
}

}  // namespace

aio::Task<void> MissedPods::look(std::set<std::string> cni_dirs) {
  Pods suspected = suspects();
  if (suspected.empty()) co_return Result<void>();
  MNET_CO_TRY_VOID(co_await aio::sleep_for(grace_));
  std::erase_if(suspected, [this](const auto& pod) { return !is_suspect_still(*pod); });
  MNET_CO_TRY(auto&& missed, co_await without_record(std::move(cni_dirs), std::move(suspected)));
  found_ = std::move(missed);
  report();
  co_return Result<void>();
}

MissedPods::Pods MissedPods::suspects() const {
  Pods suspected;
  std::for_each(pods_.begin_objects(), pods_.end_objects(), [&suspected](const auto& entry) {
    if (is_suspect(*entry.second)) suspected.push_back(entry.second);
  });
  std::ranges::sort(suspected, {}, [](const auto& pod) { return pod->key(); });
  return suspected;
}

bool MissedPods::is_suspect_still(const model::PodObject& pod) const {
  const auto now = pods_.find(pod.ns, pod.name);
  return now != nullptr && now->uid == pod.uid && is_suspect(*now);
}

aio::Task<MissedPods::Pods> MissedPods::without_record(std::set<std::string> cni_dirs, Pods pods) {
  for (const std::string& cni_dir : cni_dirs) {
    if (pods.empty()) break;
    MNET_CO_TRY(const auto& containers, co_await records_.list(cni_dir));
    for (const std::string& container : containers) {
      // A pod whose record could not be read is not reported: it may have its networks.
      MNET_CO_TRY(const auto& record, co_await attach::find_record(&records_, cni_dir, container));
      if (!record) continue;
      std::erase_if(pods, [&record](const auto& pod) { return is_about(*record, *pod); });
    }
  }
  co_return pods;
}

void MissedPods::report() const {
  if (found_.empty()) return;
  std::vector<std::string> names;
  for (const auto& pod : found_ | std::views::take(kMostNamed)) names.push_back(pod->key());
  if (found_.size() > kMostNamed) names.emplace_back("...");
  log_.warning(cat("pods of this node that run without the networks they ask for: ", found_.size(),
                   " (", join(names, ", "), "); delete them so that they are created again"));
  for (const auto& pod : found_) {
    owners_.send({.pod = pod,
                  .is_warning = true,
                  .reason = model::kNetworksNotAttached,
                  .message = cat("the pod runs without the networks of its annotation ",
                                 model::kNetworksAnnotation,
                                 ": it started while its node had no Multus configuration; "
                                 "delete the pod so that it is created again")});
  }
}

std::size_t MissedPods::count() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(found_, [this](const auto& pod) { return is_suspect_still(*pod); }));
}

}  // namespace mnet::adapters
