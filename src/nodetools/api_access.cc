#include "nodetools/api_access.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "base/version.h"
#include "kube/kube.h"
#include "sys/environment.h"
#include "sys/file.h"

namespace mnet::nodetools {
namespace {

// The kubeconfigs to be read; empty: none, so the pod's own account.
std::vector<std::string> kubeconfigs_of(const AccessOptions& options) {
  if (!options.kubeconfig.empty()) return {options.kubeconfig};
  std::vector<std::string> paths;
  const std::string listed = sys::variable(options.environment, "KUBECONFIG");
  if (!listed.empty()) {
    for (const std::string_view path : split(listed, ':')) {
      if (!path.empty() && sys::exists(std::string(path))) paths.emplace_back(path);
    }
    return paths;
  }
  const std::string home = sys::variable(options.environment, "HOME");
  std::string usual = cat(home, "/.kube/config");
  if (!home.empty() && sys::exists(usual)) paths.push_back(std::move(usual));
  return paths;
}

Result<kube::Config> config_of(const AccessOptions& options) {
  if (const auto paths = kubeconfigs_of(options); !paths.empty()) {
    return kube::load_kubeconfigs(paths, options.context);
  }
  const bool is_pod = !sys::variable(options.environment, "KUBERNETES_SERVICE_HOST").empty() &&
                      !sys::variable(options.environment, "KUBERNETES_SERVICE_PORT").empty() &&
                      sys::exists(cat(options.account_directory, "/token"));
  if (!is_pod) return Error(Errc::kNotFound, "no Kubernetes API access configured");
  return kube::in_cluster_config(options.environment, options.account_directory);
}

std::string namespace_of(const AccessOptions& options, const kube::Config& config) {
  if (!options.ns.empty()) return options.ns;
  if (!config.ns.empty()) return config.ns;
  if (auto pod = sys::variable(options.environment, "POD_NAMESPACE"); !pod.empty()) return pod;
  const auto account = sys::find_file(cat(options.account_directory, "/namespace"), 4096);
  if (account && *account && !trim(**account).empty()) return std::string(trim(**account));
  return "default";
}

}  // namespace

Result<ApiAccess> find_api_access(const AccessOptions& options) {
  MNET_TRY(auto&& config, config_of(options));
  std::string ns = namespace_of(options, config);
  return ApiAccess{.config = std::move(config), .ns = std::move(ns)};
}

Result<ApiClient> make_api_client(const AccessOptions& options, std::string_view program, Log log) {
  MNET_TRY(auto&& access, find_api_access(options));
  kube::ApiSettings settings{.user_agent = user_agent(program)};
  settings.environment = options.environment;
  MNET_TRY(auto&& api,
           kube::Api::make(std::move(access.config), std::move(settings), std::move(log)));
  return ApiClient{.api = std::move(api), .ns = std::move(access.ns)};
}

}  // namespace mnet::nodetools
