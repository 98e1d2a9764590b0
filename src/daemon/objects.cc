#include "daemon/objects.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/version.h"
#include "json/json.h"
#include "kube/kube.h"

namespace mnet::daemon {
namespace {

std::string kubeconfig_of(const Config& config) {
  const json::Value* value = config.document.find_folded("kubeconfig");
  const std::string* path = value == nullptr ? nullptr : value->as_string();
  return path == nullptr ? "" : *path;
}

Result<kube::Config> access_of(const Config& config, const std::vector<std::string>& environment) {
  const std::string path = kubeconfig_of(config);
  if (!path.empty()) return kube::load_kubeconfig(path);
  auto access = kube::in_cluster_config(environment);
  if (access) return access;
  return std::move(access).error().wrap(
      "no object source: neither objectsDir nor kubeconfig is set, and this is no pod");
}

Result<std::unique_ptr<kube::Api>> make_api(const Config& config,
                                            const std::vector<std::string>& environment,
                                            const Log& log) {
  auto access = access_of(config, environment);
  if (!access) return std::move(access).error();
  kube::ApiSettings settings;
  settings.user_agent = cat("multus-daemon/", build_version().version);
  settings.environment = environment;
  return kube::Api::make(*std::move(access), std::move(settings), log);
}

}  // namespace

Objects::Objects(const aio::asio::any_io_executor& executor, const Config& config,
                 std::vector<std::string> environment, aio::BlockingPool& pool, const Log& log)
    : folder_path_(config.objects_dir) {
  if (!folder_path_.empty()) {
    folder_ = std::make_unique<adapters::FolderSource>(executor, folder_path_, pool, log);
    return;
  }
  auto api = make_api(config, environment, log);
  if (!api) {
    failure_ = std::move(api).error();
    return;
  }
  adapters::KubeSettings settings;
  settings.node_name = kube::variable(environment, "MULTUS_NODE_NAME");
  kube_ =
      std::make_unique<adapters::KubeSource>(executor, *std::move(api), std::move(settings), log);
}

attach::ObjectSource* Objects::source() {
  if (folder_) return folder_.get();
  return kube_.get();
}

std::string Objects::name() const {
  if (folder_) return cat("objects folder ", folder_path_);
  return cat("pods and networks of ", kube_->api().server());
}

Objects::Sizes Objects::sizes() const {
  if (kube_) return {.pods = kube_->pods().size(), .networks = kube_->networks().size()};
  const auto now = folder_->snapshot();
  return {.pods = now->pods().size(), .networks = now->networks().size()};
}

aio::Task<void> Objects::follow() { return folder_ ? folder_->follow() : kube_->follow(); }

aio::Task<void> Objects::wait_loaded(aio::Deadline deadline) {
  return folder_ ? folder_->wait_loaded(deadline) : kube_->wait_synced(deadline);
}

aio::Task<void> Objects::flush(aio::Deadline deadline) {
  return folder_ ? folder_->flush(deadline) : kube_->flush(deadline);
}

}  // namespace mnet::daemon
