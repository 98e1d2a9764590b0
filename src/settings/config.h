// daemon-config.json: what the daemon and its configuration manager read from it (03, 2.2). The
// core reads the rest through the overlay; unknown keys are legal.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "devices/kubelet_dir.h"
#include "json/json.h"
#include "model/delegate_timeout.h"
#include "model/hotplug_settings.h"
#include "model/reconcile_mode.h"
#include "settings/fragments.h"
#include "settings/log_settings.h"

namespace mnet::settings {

struct PerNodeCertificate {
  bool enabled = false;
  std::string bootstrap_kubeconfig, cert_dir, cert_duration;
};

struct Config : LogSettings {
  std::string chroot_dir;
  std::string socket_dir = "/run/multus/";
  std::string daemon_socket_dir;

  std::optional<std::int64_t> connection_limit;
  std::optional<std::int64_t> metrics_port;
  std::string metrics_address;
  std::optional<bool> enable_pprof;
  std::optional<PerNodeCertificate> per_node_certificate;

  std::string multus_config_file = "auto";
  std::string multus_autoconfig_dir;
  std::string cni_config_dir = "/etc/cni/net.d";
  std::string multus_master_cni;
  std::string cni_version;
  bool force_cni_version = false;
  bool override_network_name = false;
  bool cleanup_config_on_exit = false;
  std::string readiness_indicator_file;
  std::string type = "multus-shim";
  json::Object capabilities;
  std::string bin_dir, cni_dir, cluster_network, global_namespaces, auxiliary_chain_name;
  bool namespace_isolation = false;

  std::int64_t max_request_bytes = 16 << 20;
  std::chrono::seconds delegate_timeout = model::kDelegateTimeout;
  std::optional<std::int64_t> shim_timeout;
  std::optional<std::int64_t> max_delegates;
  bool delegate_cgroup = false;
  std::string delegate_mount_namespace;
  model::ReconcileMode reconcile = model::ReconcileMode::kOn;
  std::chrono::seconds reconcile_grace{600};
  model::HotplugSettings hotplug;
  std::string objects_dir;
  std::string kubelet_dir = devices::kDefaultKubeletDir;

  // Every key as written: this is laid over each request (03, 2.9 step 4).
  json::Object document;
  std::string file;                    // where it was read
  std::vector<std::string> fragments;  // what was laid over it, in this order
  // For each key in small letters, the last fragment that sets it.
  std::map<std::string, std::string> origins;
  std::vector<std::string> warnings;  // of keys that were not used and harm nothing else

  bool is_automatic() const { return multus_config_file == "auto"; }
  // Requests that name no such directory get these, too (02, 1).
  std::string plugin_dir() const;
  std::string records_dir() const;
  // The file that sets a key last.
  const std::string& file_of(std::string_view key) const;
};

// `failed to unmarshall the daemon configuration: <why>`; a wrong type or value names its key. Keys
// that only requests read are checked as these read them, so that none fails because of one.
Result<Config> parse_config(std::string_view text);
Result<Config> config_of(json::Object document);

// Lays fragments over a document, and `overrides` over both: objects key by key, and what is null
// goes. The paths are names for errors and for file_of(); nothing is read from disk.
struct Parts {
  Fragment file;
  std::vector<Fragment> fragments = {};
  json::Object overrides = {};
};
Result<Config> merge_config(Parts parts);

// Reads the file and its fragments (fragments.h) and merges them. The error names the file and the
// key.
Result<Config> load_config(const std::string& path, const json::Object& overrides);

// `connection limit must be greater than 0, got N`: looked at only when the daemon starts to serve
// (03, 2.3 step 13).
Result<void> check_connection_limit(const Config& config);

}  // namespace mnet::settings
