#include "nodeconf/kubeconfig_file.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "json/json.h"
#include "sys/environment.h"

namespace mnet::nodeconf {
namespace {

// A JSON text in quotes is one in YAML, too.
std::string quoted(std::string_view text) { return json::dump(text, {.escape_html = false}); }

void add(std::string& out, std::string_view key, std::string_view value) {
  if (!value.empty()) out += cat("    ", key, ": ", quoted(value), "\n");
}

// A zone's percent sign would begin an escape.
std::string host_in_url(const std::string& host) {
  if (host.find(':') == std::string::npos || host.starts_with('[')) return host;
  const std::size_t zone = host.find('%');
  if (zone == std::string::npos) return cat("[", host, "]");
  return cat("[", host.substr(0, zone), "%25", host.substr(zone + 1), "]");
}

}  // namespace

std::string kubeconfig_text(const Kubeconfig& config) {
  std::string out = "# Written by Multus and kept current; changes are overwritten.\n";
  out += cat("apiVersion: v1\nkind: Config\nclusters:\n- name: ", config.cluster, "\n  cluster:\n");
  add(out, "server", config.server);
  add(out, "tls-server-name", config.tls_server_name);
  add(out, "proxy-url", config.proxy_url);
  if (config.is_insecure) {
    out += "    insecure-skip-tls-verify: true\n";
  } else if (!config.ca.empty()) {
    out += cat("    certificate-authority-data: ", to_base64(config.ca), "\n");
  }
  out += cat("users:\n- name: ", config.user, "\n  user:\n");
  add(out, "token", config.token);
  add(out, "client-certificate", config.client_certificate);
  add(out, "client-key", config.client_key);
  out += cat("contexts:\n- name: ", config.context, "\n  context:\n    cluster: ", config.cluster,
             "\n    user: ", config.user, "\n");
  add(out, "namespace", config.ns);
  out += cat("current-context: ", config.context, "\n");
  return out;
}

Result<std::string> service_url(const std::vector<std::string>& environment) {
  std::string protocol = sys::variable(environment, "KUBERNETES_SERVICE_PROTOCOL");
  if (protocol.empty()) protocol = "https";
  const std::string host = sys::variable(environment, "KUBERNETES_SERVICE_HOST");
  const std::string port = sys::variable(environment, "KUBERNETES_SERVICE_PORT");
  for (const auto& [name, value] :
       {std::pair("KUBERNETES_SERVICE_HOST", host), std::pair("KUBERNETES_SERVICE_PORT", port)}) {
    if (value.empty()) {
      return Error(Errc::kInvalid, cat(name, " is not set: is this a pod of a cluster?"));
    }
  }
  return cat(protocol, "://", host_in_url(host), ":", port);
}

}  // namespace mnet::nodeconf
