// The command line of thin_entrypoint (03, 9.2).
#pragma once

#include <string>

#include "base/pflags.h"

namespace mnet::thin_entrypoint {

struct Options {
  std::string cni_bin_dir = "/host/opt/cni/bin";
  std::string cni_conf_dir = "/host/etc/cni/net.d";
  std::string cni_version;
  std::string multus_conf_file = "auto";
  std::string multus_bin_file = "/usr/src/multus-cni/bin/multus";
  std::string multus_cni_conf_dir = "/host/etc/cni/multus/net.d";
  bool skip_multus_binary_copy = false;
  std::string kubeconfig_file_host = "/etc/cni/net.d/multus.d/multus.kubeconfig";
  std::string master_cni_file_name;
  std::string autoconfig_dir = "/host/etc/cni/net.d";
  bool namespace_isolation = false;
  std::string global_namespaces;
  bool log_to_stderr = true;
  std::string log_level, log_file;
  bool override_network_name = false;
  bool cleanup_config_on_exit = false;
  bool skip_config_watch = false;
  bool rename_conf_file = false;
  std::string readiness_indicator_file;
  std::string additional_bin_dir;
  bool skip_tls_verify = false;
  bool force_cni_version = false;

  bool wants_version = false;

  bool is_automatic() const { return multus_conf_file == "auto"; }
};

// `to` must outlive it.
PFlags make_flags(Options& to);

}  // namespace mnet::thin_entrypoint
