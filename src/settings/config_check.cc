#include "settings/config_check.h"

#include <sys/stat.h>
#include <sys/types.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "json/json.h"
#include "model/delegate.h"
#include "settings/config.h"
#include "sys/environment.h"
#include "wire/wire.h"

namespace mnet::settings {
namespace {

// Of libcni, which containerd, CRI-O and podman use.
constexpr std::string_view kRuntimeCache = "/var/lib/cni";

bool is_given(const Config& config, std::string_view key) {
  const json::Value* value = config.document.find_folded(key);
  return value != nullptr && !value->is_null();
}

Result<mode_t> mode_of(const std::string& path) {
  struct stat seen{};
  if (::stat(path.c_str(), &seen) != 0) return Error::from_errno(errno, path);
  return seen.st_mode;
}

Error refusal(const Config& config, std::string_view key, const Error& why) {
  return why.wrap(cat(config.file_of(key), ": ", key));
}

void add_ignored(const Config& config, std::string_view key, std::string_view why,
                 std::vector<std::string>& out) {
  if (is_given(config, key)) out.push_back(cat(key, " has no effect: ", why));
}

void add_all_ignored(const Config& config, auto keys, std::string_view why,
                     std::vector<std::string>& out) {
  for (const std::string_view key : keys) add_ignored(config, key, why, out);
}

// The manifests mount the host's /run at /host/run: only what comes after such a prefix must be
// the same for both.
void add_socket(const Config& config, std::vector<std::string>& out) {
  if (!config.is_automatic()) return;
  const std::string ours = wire::socket_path(config.socket_dir);
  const std::string shims = wire::socket_path(config.daemon_socket_dir);
  if (ours.ends_with(shims)) return;
  out.push_back(cat("socketDir: the daemon listens on ", ours, ", and the shim looks for ", shims,
                    " on the host: set daemonSocketDir to this directory as the host sees it"));
}

void add_credentials(const Config& config, std::vector<std::string>& out) {
  const auto& certificate = config.per_node_certificate;
  if (!config.objects_dir.empty()) {
    add_all_ignored(config, std::array{"perNodeCertificate", "kubeconfig"},
                    "with objectsDir there is no API server", out);
  } else if (certificate && certificate->enabled) {
    add_ignored(config, "kubeconfig", "perNodeCertificate is enabled", out);
  } else if (certificate &&
             !(certificate->bootstrap_kubeconfig.empty() && certificate->cert_dir.empty())) {
    add_ignored(config, "perNodeCertificate", "its enabled is not true", out);
  }
}

void add_metrics(const Config& config, std::vector<std::string>& out) {
  if (is_given(config, "metricsPort")) return;
  add_all_ignored(config, std::array{"metricsAddress", "enablePprof"}, "there is no metricsPort",
                  out);
}

// Where clusterNetwork is set they do not count, and it may come with the request.
void add_delegates(const Config& config, std::vector<std::string>& out) {
  const json::Value* value = config.document.find_folded("delegates");
  if (value == nullptr || value->as_array() == nullptr) return;
  if (config.is_automatic() || !config.cluster_network.empty()) {
    return add_ignored(config, "delegates", "the networks come from clusterNetwork", out);
  }
  for (const json::Value& entry : *value->as_array()) {
    const auto delegate = model::parse_delegate(json::dump(entry));
    if (!delegate) out.push_back(cat("delegates: ", delegate.error().text()));
  }
}

}  // namespace

Result<void> check_surroundings(const Config& config, const std::vector<std::string>& environment) {
  // It would act on pods of other nodes (05, 3.1).
  const bool lacks_node = config.hotplug.is_enabled && config.objects_dir.empty() &&
                          sys::variable(environment, "MULTUS_NODE_NAME").empty();
  if (lacks_node) {
    return refusal(config, "hotplug",
                   Error(Errc::kInvalid, "this node's name is unknown: set MULTUS_NODE_NAME"));
  }
  if (const std::string& path = config.delegate_mount_namespace; !path.empty()) {
    auto there = mode_of(path);
    return there ? Result<void>() : refusal(config, "delegateMountNamespace", there.error());
  }
  if (config.chroot_dir.empty()) return {};
  const auto mode = mode_of(config.chroot_dir);
  if (!mode) return refusal(config, "chrootDir", mode.error());
  if (S_ISDIR(*mode)) return {};
  return refusal(config, "chrootDir",
                 Error(Errc::kInvalid, cat(config.chroot_dir, " is not a directory")));
}

std::vector<std::string> config_warnings(const Config& config) {
  std::vector<std::string> out = config.warnings;
  if (clean_path(config.cni_dir) == kRuntimeCache) {
    out.push_back(cat("cniDir: container runtimes keep results of their own in ", kRuntimeCache,
                      ": choose a directory that no other program uses"));
  }
  add_socket(config, out);
  add_credentials(config, out);
  add_metrics(config, out);
  add_delegates(config, out);
  if (!config.delegate_mount_namespace.empty()) {
    add_ignored(config, "chrootDir", "delegateMountNamespace is set", out);
  }
  if (!config.is_automatic()) {
    add_all_ignored(
        config,
        std::array{"multusMasterCNI", "multusAutoconfigDir", "forceCNIVersion",
                   "overrideNetworkName", "cleanupConfigOnExit", "shimTimeout", "daemonSocketDir"},
        "multusConfigFile is not auto", out);
  }
  if (config.log_file.empty()) add_ignored(config, "logOptions", "there is no logFile", out);
  // Of older documents (02, 1).
  add_all_ignored(
      config, std::array{"defaultnetworkfile", "defaultnetworkwaitseconds", "allowTryDeleteOnErr"},
      "it is not a key of this version", out);
  return out;
}

std::string with_file(const Config& config, std::string_view warning) {
  const std::string_view key = warning.substr(0, warning.find_first_of(" :"));
  return cat(config.file_of(key), ": ", warning);
}

}  // namespace mnet::settings
