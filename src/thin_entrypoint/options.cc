#include "thin_entrypoint/options.h"

#include <string>
#include <vector>

#include "base/pflags.h"
#include "base/result.h"
#include "base/try.h"

namespace mnet::thin_entrypoint {
namespace {

void add_places(PFlags& flags, Options& to) {
  flags.text("cni-bin-dir", &to.cni_bin_dir, "where to install the multus program");
  flags.text("cni-conf-dir", &to.cni_conf_dir,
             "where to write 00-multus.conf[list] and multus.d/multus.kubeconfig");
  flags.text("multus-bin-file", &to.multus_bin_file, "the multus program to copy");
  flags.boolean("skip-multus-binary-copy", &to.skip_multus_binary_copy,
                "do not copy the multus program");
  flags.text("multus-conf-file", &to.multus_conf_file,
             "`auto` to generate the configuration, or a file to copy to --cni-conf-dir");
  flags.text("multus-autoconfig-dir", &to.autoconfig_dir,
             "where to look for the primary CNI configuration");
  flags.text("multus-master-cni-file-name", &to.master_cni_file_name,
             "file name of the primary CNI configuration; none: the first one");
  flags.text("multus-cni-conf-dir", &to.multus_cni_conf_dir,
             "directory to create and to write as cniConf, which no program reads; empty: neither");
  flags.text("multus-kubeconfig-file-host", &to.kubeconfig_file_host,
             "path of the kubeconfig on the host, for the generated configuration");
}

void add_contents(PFlags& flags, Options& to) {
  flags.text("cni-version", &to.cni_version, "version that the primary must have; empty: any");
  flags.boolean("namespace-isolation", &to.namespace_isolation,
                "pods may only use networks of their own namespace");
  flags.text("global-namespaces", &to.global_namespaces,
             "comma-separated namespaces whose networks all pods may use");
  flags.boolean("multus-log-to-stderr", &to.log_to_stderr, "whether multus logs to stderr");
  flags.text("multus-log-level", &to.log_level, "debug, verbose, error or panic");
  flags.text("multus-log-file", &to.log_file, "log file of multus");
  flags.boolean("override-network-name", &to.override_network_name,
                "use the primary's network name instead of multus-cni-network");
  flags.text("readiness-indicator-file", &to.readiness_indicator_file,
             "file whose existence means that the default network is ready");
  flags.text("additional-bin-dir", &to.additional_bin_dir,
             "another directory in which multus looks for plugins");
  flags.boolean({"skip-tls-verify", 0, true}, &to.skip_tls_verify,
                "do not verify the API server's certificate");
  flags.boolean({"force-cni-version", 0, true}, &to.force_cni_version,
                "write --cni-version whatever the primary has (tests only)");
}

void add_behaviour(PFlags& flags, Options& to) {
  flags.boolean("cleanup-config-on-exit", &to.cleanup_config_on_exit,
                "remove the configuration on exit; the kubeconfig stays");
  flags.boolean("skip-config-watch", &to.skip_config_watch,
                "do not follow the primary CNI configuration");
  flags.boolean("rename-conf-file", &to.rename_conf_file,
                "rename the primary to <name>.old after the configuration was generated");
  flags.boolean({"version", 'v'}, &to.wants_version, "print the version and exit");
}

PFlags make_flags(Options& to) {
  PFlags flags("thin_entrypoint",
               "Installs multus on a node: copies the program, writes its kubeconfig and its CNI "
               "configuration,\nand keeps both current until a signal ends it.");
  add_places(flags, to);
  add_contents(flags, to);
  add_behaviour(flags, to);
  return flags;
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string>& words) {
  Options options;
  PFlags flags = make_flags(options);
  MNET_TRY(const auto& outcome, flags.parse(words));
  options.wants_help = outcome == PFlags::Outcome::kHelp;
  return options;
}

std::string usage() {
  Options options;
  return make_flags(options).usage();
}

}  // namespace mnet::thin_entrypoint
