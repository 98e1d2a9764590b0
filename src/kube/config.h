// Where the API server is and who we are: kubeconfig files and the variables of a pod (03, 5.1).
// Reads no credentials yet: those change while we run (kube/credentials.h).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace mnet::kube {

// A text given in place, or in a file that is read whenever it changes. In place wins.
struct Material {
  std::string data = {};
  std::string file = {};
  // Called whenever a file would be read, and wins over both; tokens have none.
  std::function<Result<std::string>()> source = {};

  bool empty() const { return data.empty() && file.empty() && !source; }
};

// A program that knows how to log in (client.authentication.k8s.io).
struct ExecPlugin {
  std::string api_version = {};
  std::string command = {};  // a path, or a name to be looked for in PATH
  std::vector<std::string> args = {};
  std::vector<std::pair<std::string, std::string>> env = {};  // beside our own environment
  bool wants_cluster = false;                                 // provideClusterInfo
};

struct Impersonation {
  std::string user = {}, uid = {};
  std::vector<std::string> groups = {};
  std::map<std::string, std::vector<std::string>> extra = {};
};

struct Config {
  std::string server = {};  // a URL, checked
  Material ca = {};         // none: what the system trusts
  bool is_insecure = false;
  bool ca_may_be_missing = false;  // in a pod: said, and no more
  std::string tls_server_name = {};
  std::string proxy_url = {};  // none: what the environment says
  std::string ns = {};         // the context's; empty: it names none

  Material certificate = {}, key = {};
  Material token = {};  // the file wins once it could be read
  std::string username = {}, password = {};
  Impersonation impersonated = {};
  std::optional<ExecPlugin> exec = {};
};

// Cluster and user of a context; empty: the current one. Relative paths are taken to be in
// `directory`. The error names the member: `users[1].user.exec.command: missing`.
Result<Config> parse_kubeconfig(std::string_view text, const std::string& directory,
                                std::string context = {});
Result<Config> load_kubeconfig(const std::string& path, const std::string& context = {});
// Files that complete each other, as kubectl reads $KUBECONFIG: of entries with the same name, and
// of current contexts, the first is right.
Result<Config> load_kubeconfigs(const std::vector<std::string>& paths,
                                const std::string& context = {});

inline constexpr std::string_view kServiceAccountDirectory =
    "/var/run/secrets/kubernetes.io/serviceaccount";

// By KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT; kNotFound if one of them is missing.
// The token's file must be readable.
Result<Config> in_cluster_config(
    const std::vector<std::string>& environment,
    const std::string& directory = std::string(kServiceAccountDirectory));

}  // namespace mnet::kube
