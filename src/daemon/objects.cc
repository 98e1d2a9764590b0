#include "daemon/objects.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "adapters/folder_source.h"
#include "adapters/kube_source.h"
#include "aio/blocking_pool.h"
#include "aio/cancel.h"
#include "aio/group.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "attach/source.h"
#include "base/error.h"
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
#include "model/objects.h"
#include "store/store.h"
#include "sys/environment.h"

namespace mnet::daemon {
namespace {

// Between two looks for a kubeconfig.
constexpr std::chrono::seconds kLook{1};

// How often the server has answered 401.
std::uint64_t refusals(const kube::Api& api) {
  std::uint64_t sum = 0;
  for (const auto& [what, count] : api.request_counts()) {
    if (what.second == 401) sum += count;
  }
  return sum;
}

}  // namespace

Result<kube::Config> Objects::find_access(const std::vector<std::string>& environment) const {
  if (certificate_) return certificate_->client_config();
  if (!kubeconfig_.empty()) return kube::load_kubeconfig(kubeconfig_);
  auto access = kube::in_cluster_config(environment);
  if (access) return access;
  return std::move(access).error().wrap(
      "no object source: neither objectsDir nor kubeconfig is set, and this is not a pod");
}

Result<std::unique_ptr<kube::Api>> Objects::make_api(const std::vector<std::string>& environment,
                                                     const Log& log) {
  auto access = find_access(environment);
  // The program that writes the file may start after us; a file that is wrong stays wrong.
  const bool may_come =
      !access && !certificate_ && !kubeconfig_.empty() && access.error().code() != Errc::kInvalid;
  if (!access && !may_come) return std::move(access).error();
  kube::ApiSettings settings;
  settings.user_agent = user_agent("multus-daemon");
  settings.environment = environment;
  if (certificate_) settings.credentials.file_age = kReread;
  if (access) return kube::Api::make(*std::move(access), std::move(settings), log);
  wait_for_access(access.error());
  return std::make_unique<kube::Api>(std::move(settings), log);
}

void Objects::wait_for_access(const Error& why) {
  std::string text = cat("the kubeconfig of the daemon's configuration: ", why.text());
  if (text == missing_access_) return;
  log_.error(cat("waiting for ", text, "; write the file, or remove the key kubeconfig"));
  missing_access_ = std::move(text);
}

Objects::Objects(const aio::asio::any_io_executor& executor, const Config& config,
                 const std::vector<std::string>& environment, aio::BlockingPool& pool,
                 const Log& log, ObjectsUse use)
    : log_(log),
      use_(use),
      folder_path_(config.objects_dir),
      kubeconfig_(json::text_of(config.document.find_folded("kubeconfig"))) {
  if (!folder_path_.empty()) {
    folder_ = std::make_unique<adapters::FolderSource>(
        executor, folder_path_, pool, log,
        adapters::FolderSettings{.status_dir = store::status_directory(config.records_dir()),
                                 .sweeps = use == ObjectsUse::kServe});
    return;
  }
  auto certificate = make_certificate(executor, config, environment, pool, log);
  if (!certificate) {
    failure_ = std::move(certificate).error();
    return;
  }
  certificate_ = *std::move(certificate);
  auto api = make_api(environment, log);
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
  const std::string& server = kube_->api().server();
  return cat("pods and networks of ", server.empty() ? "the API server" : server);
}

Objects::Sizes Objects::sizes() const {
  if (kube_) return {.pods = kube_->pods().size(), .networks = kube_->networks().size()};
  const auto now = folder_->snapshot();
  return {.pods = now->pods().size(), .networks = now->networks().size()};
}

std::vector<model::PodObjectPtr> Objects::pods() const {
  std::vector<model::PodObjectPtr> all;
  if (kube_) {
    std::transform(kube_->pods().begin_objects(), kube_->pods().end_objects(),
                   std::back_inserter(all), [](const auto& entry) { return entry.second; });
  } else {
    std::ranges::copy(folder_->snapshot()->pods() | std::views::values, std::back_inserter(all));
  }
  return all;
}

bool Objects::is_loaded() const {
  if (!kube_) return folder_->is_loaded();
  return kube_->pod_watch().is_synced() && kube_->network_watch().is_synced();
}

model::PodObjectPtr Objects::find_pod(const std::string& ns, const std::string& name) const {
  return kube_ ? kube_->pods().find(ns, name) : folder_->snapshot()->find_pod(ns, name);
}

void Objects::close_idle() {
  if (kube_) kube_->api().close_idle();
}

std::uint64_t Objects::requests_made() const { return kube_ ? kube_->api().requests_made() : 0; }

aio::Task<void> Objects::follow() {
  if (folder_) return folder_->follow();
  if (use_ == ObjectsUse::kLook) return kube_->follow();
  if (!missing_access_.empty()) return follow_when_readable();
  return certificate_ ? follow_when_known() : kube_->follow();
}

// A faulty file may be repaired, and half a file may become a whole one.
aio::Task<void> Objects::follow_when_readable() {
  while (!missing_access_.empty()) {
    MNET_CO_TRY_VOID(co_await aio::sleep_for(kLook));
    auto access = kube::load_kubeconfig(kubeconfig_);
    const auto used = access ? kube_->api().use(*std::move(access)) : std::move(access).error();
    if (used) {
      log_.verbose(cat("the kubeconfig ", kubeconfig_, " can be used now"));
      missing_access_.clear();
    } else {
      wait_for_access(used.error());
    }
  }
  co_return co_await kube_->follow();
}

// The server tells nothing to a client that it does not know: watches that fail meanwhile would
// only begin later.
aio::Task<void> Objects::follow_when_known() {
  renewal_ = std::make_unique<aio::Group>(co_await aio::asio::this_coro::executor, log_);
  renewal_->spawn("certificate of this node", certificate_->run());
  auto known = co_await certificate_->wait_usable(aio::kNoDeadline);
  if (known) known = co_await kube_->follow();
  renewal_->cancel();
  (void)co_await aio::shielded(renewal_->join());
  co_return known;
}

void Objects::stop_renewal() {
  if (renewal_) renewal_->cancel();
}

aio::Task<void> Objects::wait_loaded(aio::Deadline deadline) {
  return folder_ ? folder_->wait_loaded(deadline) : kube_->wait_synced(deadline);
}

aio::Task<void> Objects::flush(aio::Deadline deadline) {
  return folder_ ? folder_->flush(deadline) : kube_->flush(deadline);
}

}  // namespace mnet::daemon
