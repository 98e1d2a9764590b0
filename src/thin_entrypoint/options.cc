#include "thin_entrypoint/options.h"

#include "base/pflags.h"

namespace mnet::thin_entrypoint {
namespace {

void add_places(PFlags& flags, Options& to) {
  flags.add("cni-bin-dir", &to.cni_bin_dir, "where to install the multus program");
  flags.add("cni-conf-dir", &to.cni_conf_dir,
            "where to write 00-multus.conf[list] and multus.d/multus.kubeconfig");
  flags.add("multus-bin-file", &to.multus_bin_file, "the multus program to copy");
  flags.add("skip-multus-binary-copy", &to.skip_multus_binary_copy,
            "do not copy the multus program");
  flags.add("multus-conf-file", &to.multus_conf_file,
            "`auto` to generate the configuration, or a file to copy to --cni-conf-dir");
  flags.add("multus-autoconfig-dir", &to.autoconfig_dir,
            "where to look for the primary CNI configuration");
  flags.add("multus-master-cni-file-name", &to.master_cni_file_name,
            "file name of the primary CNI configuration; none: the first one");
  flags.add("multus-cni-conf-dir", &to.multus_cni_conf_dir,
            "directory to create and to write as cniConf, which no program reads; empty: neither");
  flags.add("multus-kubeconfig-file-host", &to.kubeconfig_file_host,
            "path of the kubeconfig on the host, for the generated configuration");
}

void add_contents(PFlags& flags, Options& to) {
  flags.add("cni-version", &to.cni_version, "version that the primary must have; empty: any");
  flags.add("namespace-isolation", &to.namespace_isolation,
            "pods may only use networks of their own namespace");
  flags.add("global-namespaces", &to.global_namespaces,
            "comma-separated namespaces whose networks all pods may use");
  flags.add("multus-log-to-stderr", &to.log_to_stderr, "whether multus logs to stderr");
  flags.add("multus-log-level", &to.log_level, "debug, verbose, error or panic");
  flags.add("multus-log-file", &to.log_file, "log file of multus");
  flags.add("override-network-name", &to.override_network_name,
            "use the primary's network name instead of multus-cni-network");
  flags.add("readiness-indicator-file", &to.readiness_indicator_file,
            "file whose existence means that the default network is ready");
  flags.add("additional-bin-dir", &to.additional_bin_dir,
            "another directory in which multus looks for plugins");
  flags.add({"skip-tls-verify", 0, true}, &to.skip_tls_verify,
            "do not verify the API server's certificate");
  flags.add({"force-cni-version", 0, true}, &to.force_cni_version,
            "write --cni-version whatever the primary has (tests only)");
}

void add_behaviour(PFlags& flags, Options& to) {
  flags.add("cleanup-config-on-exit", &to.cleanup_config_on_exit,
            "remove the configuration on exit; the kubeconfig stays");
  flags.add("skip-config-watch", &to.skip_config_watch,
            "do not follow the primary CNI configuration");
  flags.add("rename-conf-file", &to.rename_conf_file,
            "rename the primary to <name>.old after the configuration was generated");
  flags.add({"version", 'v'}, &to.wants_version, "print the version and exit");
}

}  // namespace

PFlags make_flags(Options& to) {
  PFlags flags("thin_entrypoint",
               "Installs multus on a node: copies the program, writes its kubeconfig and its CNI "
               "configuration,\nand keeps both current until a signal ends it.");
  add_places(flags, to);
  add_contents(flags, to);
  add_behaviour(flags, to);
  return flags;
}

}  // namespace mnet::thin_entrypoint
