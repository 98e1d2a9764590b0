#include "daemon/objects.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "adapters/folder_source.h"
#include "adapters/kube_source.h"
#include "aio/blocking_pool.h"
#include "aio/cancel.h"
#include "aio/group.h"
#include "aio/task.h"
#include "attach/source.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "base/version.h"
#include "daemon/certificate.h"
#include "daemon/config.h"
#include "json/at.h"
#include "json/json.h"
#include "kube/kube.h"
#include "sys/environment.h"

namespace mnet::daemon {
namespace {

Result<kube::Config> access_of(const Config& config, const std::vector<std::string>& environment) {
  const std::string path = json::text_of(config.document.find_folded("kubeconfig"));
  if (!path.empty()) return kube::load_kubeconfig(path);
  auto access = kube::in_cluster_config(environment);
  if (access) return access;
  return std::move(access).error().wrap(
      "no object source: neither objectsDir nor kubeconfig is set, and this is not a pod");
}

// How often the server did not know us.
std::uint64_t refusals(const kube::Api& api) {
  std::uint64_t sum = 0;
  for (const auto& [what, count] : api.request_counts()) {
    if (what.second == 401) sum += count;
  }
  return sum;
}

}  // namespace

Result<std::unique_ptr<kube::Api>> Objects::make_api(const Config& config,
                                                     const std::vector<std::string>& environment,
                                                     const Log& log) const {
  MNET_TRY(auto&& access, certificate_ ? Result<kube::Config>(certificate_->client_config())
                                       : access_of(config, environment));
  kube::ApiSettings settings;
  settings.user_agent = cat("multus-daemon/", build_version().version);
  settings.environment = environment;
  if (certificate_) settings.credentials.file_age = kReread;
  return kube::Api::make(std::move(access), std::move(settings), log);
}

Objects::Objects(const aio::asio::any_io_executor& executor, const Config& config,
                 const std::vector<std::string>& environment, aio::BlockingPool& pool,
                 const Log& log)
    : log_(log), folder_path_(config.objects_dir) {
  if (!folder_path_.empty()) {
    folder_ = std::make_unique<adapters::FolderSource>(executor, folder_path_, pool, log);
    return;
  }
  auto certificate = make_certificate(executor, config, environment, pool, log);
  if (!certificate) {
    failure_ = std::move(certificate).error();
    return;
  }
  certificate_ = *std::move(certificate);
  auto api = make_api(config, environment, log);
  if (!api) {
    failure_ = std::move(api).error();
    return;
  }
  adapters::KubeSettings settings;
  settings.node_name = sys::variable(environment, "MULTUS_NODE_NAME");
  kube_ =
      std::make_unique<adapters::KubeSource>(executor, *std::move(api), std::move(settings), log);
  if (certificate_) certificate_->watch_refusals([this] { return refusals(kube_->api()); });
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

aio::Task<void> Objects::follow() {
  if (folder_) return folder_->follow();
  return certificate_ ? follow_when_known() : kube_->follow();
}

// Whom the server does not know it tells nothing: watches that fail meanwhile would only be slow to
// begin later.
aio::Task<void> Objects::follow_when_known() {
  aio::Group own(co_await aio::asio::this_coro::executor, log_);
  own.spawn("certificate of this node", certificate_->run());
  auto known = co_await certificate_->wait_usable(aio::kNoDeadline);
  if (known) known = co_await kube_->follow();
  own.cancel();
  (void)co_await aio::shielded(own.join());
  co_return known;
}

aio::Task<void> Objects::wait_loaded(aio::Deadline deadline) {
  return folder_ ? folder_->wait_loaded(deadline) : kube_->wait_synced(deadline);
}

aio::Task<void> Objects::flush(aio::Deadline deadline) {
  return folder_ ? folder_->flush(deadline) : kube_->flush(deadline);
}

}  // namespace mnet::daemon
