// Where the API server is and which namespace is meant where none is named (04, 1.10): kubeconfig
// files, the environment, the service account of a pod.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "kube/api.h"
#include "kube/config.h"

namespace mnet::nodetools {

struct AccessOptions {
  std::string kubeconfig = {};  // of the command line; empty: not given
  std::string context = {};     // likewise: of the kubeconfig
  std::string ns = {};          // likewise
  std::vector<std::string> environment = {};
  std::string account_directory = std::string(kube::kServiceAccountDirectory);
};

struct ApiAccess {
  kube::Config config;
  std::string ns;  // the default one
};

// kNotFound, `no Kubernetes API access configured`, if there is nothing to go by.
Result<ApiAccess> find_api_access(const AccessOptions& options);

// A client of that server and the namespace. The server's log shows it as `<program>/<version>`.
struct ApiClient {
  std::unique_ptr<kube::Api> api;
  std::string ns;
};
Result<ApiClient> make_api_client(const AccessOptions& options, std::string_view program, Log log);

}  // namespace mnet::nodetools
