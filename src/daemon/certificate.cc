#include "daemon/certificate.h"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/blocking_pool.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "base/version.h"
#include "certs/certs.h"
#include "daemon/config.h"
#include "kube/kube.h"
#include "sys/environment.h"

namespace mnet::daemon {
namespace {

constexpr std::string_view kKey = "perNodeCertificate";

Result<void> check_given(const std::string& value, std::string_view key) {
  if (!value.empty()) return {};
  return Error(Errc::kInvalid, cat(kKey, ".", key, " is not set"));
}

}  // namespace

Result<std::unique_ptr<certs::NodeCertificate>> make_certificate(
    const aio::asio::any_io_executor& executor, const Config& config,
    const std::vector<std::string>& environment, aio::BlockingPool& pool, const Log& log) {
  const auto& wanted = config.per_node_certificate;
  if (!wanted || !wanted->enabled) return std::unique_ptr<certs::NodeCertificate>();
  MNET_TRY_VOID(check_given(wanted->bootstrap_kubeconfig, "bootstrapKubeconfig"));
  MNET_TRY_VOID(check_given(wanted->cert_dir, "certDir"));
  auto duration = certs::parse_certificate_duration(wanted->cert_duration);
  if (!duration) return std::move(duration).error().wrap(cat(kKey, ".certDuration"));
  certs::NodeCertificateSettings settings;
  settings.node = sys::variable(environment, "MULTUS_NODE_NAME");
  settings.directory = wanted->cert_dir;
  settings.bootstrap_kubeconfig = wanted->bootstrap_kubeconfig;
  settings.duration = *duration;
  settings.api.user_agent = user_agent("multus-daemon");
  settings.api.environment = environment;
  settings.api.credentials.file_age = kReread;
  auto made = certs::NodeCertificate::make(executor, std::move(settings), pool, log);
  if (!made) return std::move(made).error().wrap(kKey);
  return made;
}

}  // namespace mnet::daemon
