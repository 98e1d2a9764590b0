#include "daemon/upkeep_node.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "adapters/kube_source.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "base/result.h"
#include "base/try.h"
#include "cni/args.h"
#include "daemon/background_turn.h"
#include "daemon/config.h"
#include "daemon/request.h"
#include "json/json.h"
#include "metrics/metrics.h"
#include "model/attachment_record.h"
#include "store/pending_dels.h"
#include "store/store.h"
#include "sys/copy_file.h"
#include "sys/file_lock.h"
#include "sys/used_netns.h"
#include "upkeep/decision.h"
#include "wire/wire.h"

namespace mnet::daemon {

aio::Task<std::vector<std::string>> UpkeepNode::list_records(std::string cni_dir) {
  return needs_.pool.run([cni_dir = std::move(cni_dir)] {
    return store::AttachmentRecords(cni_dir).list_oldest_first();
  });
}

aio::Task<std::vector<std::string>> UpkeepNode::list_pending(std::string cni_dir) {
  return needs_.pool.run(
      [cni_dir = std::move(cni_dir)] { return store::PendingDels(cni_dir).list_files(); });
}

aio::Task<std::vector<std::string>> UpkeepNode::list_set_aside(std::string cni_dir) {
  return needs_.pool.run(
      [cni_dir = std::move(cni_dir)] { return store::PendingDels(cni_dir).list_set_aside(); });
}

// A process that ends removes its file.
aio::Task<bool> UpkeepNode::is_in_work(std::string cni_dir, std::string container_id) {
  return needs_.pool.run([path = store::thin_lock(cni_dir, container_id)]() -> Result<bool> {
    std::error_code failed;
    if (!std::filesystem::exists(path, failed) && !failed) return false;
    MNET_TRY(const auto& lock, sys::FileLock::try_file(path));
    return !lock.has_value();
  });
}

upkeep::PodState UpkeepNode::find_pod(const model::AttachmentRecord& record) const {
  using upkeep::PodState;
  const adapters::KubeSource* kube = needs_.objects.kube();
  if (kube == nullptr || !kube->pod_watch().is_synced()) return PodState::kUnknown;
  const auto pod = kube->pods().find(record.pod_ns, record.pod_name);
  const bool is_its = pod != nullptr && (record.is_static || pod->fits(record.pod_uid));
  if (!is_its) return PodState::kAbsent;
  return pod->is_running() ? PodState::kRunning : PodState::kPresent;
}

aio::Task<std::set<std::uint64_t>> UpkeepNode::list_used_namespaces() {
  return needs_.pool.run([] { return sys::list_used_netns(); });
}

// Through the reader of every request, with the daemon's configuration laid over it.
Result<attach::Request> UpkeepNode::make_del(const std::string& cni_dir,
                                             const model::AttachmentRecord& record,
                                             const std::string& ifname) {
  const wire::Call call{.command = "DEL",
                        .container_id = record.container_id,
                        .netns = record.netns,
                        .ifname = ifname,
                        .args = cni::args_text(record.cni_args),
                        .path = record.cni_path};
  const json::Object config{{"name", "multus-cni-network"}, {"cniDir", cni_dir}};
  const std::string body = wire::pending_del_body(call, json::dump(config));
  MNET_TRY(auto&& read, read_cni_call(body, needs_.rules, needs_.next_arrival(), log_));
  MNET_TRY(auto&& request, std::move(read.request));
  MNET_TRY_VOID(check_cni_dir(request, cni_dir));
  return std::move(request);
}

aio::Task<std::shared_ptr<void>> UpkeepNode::take_turn(attach::Request request) {
  return take_background_turn(&needs_.requests, std::move(request), TurnOf::kDel);
}

void UpkeepNode::count(std::string_view action, bool succeeded) {
  ++counts_[{std::string(action), succeeded}];
}

std::vector<metrics::Sample> UpkeepNode::counted() const {
  std::vector<metrics::Sample> samples;
  samples.reserve(counts_.size());
  for (const auto& [what, number] : counts_) {
    samples.push_back(
        {.labels = {{"action", what.first}, {"outcome", what.second ? "success" : "error"}},
         .value = static_cast<double>(number)});
  }
  return samples;
}

// Our root is the host's if the first process has the same one.
bool sees_host_root(const Config& config) {
  return !config.chroot_dir.empty() || !config.delegate_mount_namespace.empty() ||
         sys::is_same_file("/proc/1/root", "/");
}

}  // namespace mnet::daemon
