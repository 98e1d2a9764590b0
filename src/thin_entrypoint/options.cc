#include "thin_entrypoint/options.h"

#include <string>
#include <vector>

#include "base/pflags.h"
#include "base/result.h"
#include "base/try.h"

namespace mnet::thin_entrypoint {
namespace {

void add_places(PFlags& flags, Options& to) {
  flags.text("cni-bin-dir", &to.cni_bin_dir, "where the multus program goes");
  flags.text("cni-conf-dir", &to.cni_conf_dir,
             "where 00-multus.conf[list] and multus.d/multus.kubeconfig go");
  flags.text("multus-bin-file", &to.multus_bin_file, "the multus program to copy");
  flags.boolean("skip-multus-binary-copy", &to.skip_multus_binary_copy,
                "do not copy the multus program");
  flags.text("multus-conf-file", &to.multus_conf_file,
             "`auto` to generate the configuration, or a file to copy to --cni-conf-dir");
  flags.text("multus-autoconfig-dir", &to.autoconfig_dir,
             "where the primary CNI configuration is looked for");
  flags.text("multus-master-cni-file-name", &to.master_cni_file_name,
             "file name of the primary CNI configuration; none: the first one");
  flags.text("multus-cni-conf-dir", &to.multus_cni_conf_dir,
             "created, and written as cniConf, which nothing reads; empty: neither");
  flags.text("multus-kubeconfig-file-host", &to.kubeconfig_file_host,
             "path of the kubeconfig on the host, for the generated configuration");
}

void add_contents(PFlags& flags, Options& to) {
  flags.text("cni-version", &to.cni_version, "the primary must have this version; empty: any");
  flags.boolean("namespace-isolation", &to.namespace_isolation,
                "pods may use networks of their own namespace only");
  flags.text("global-namespaces", &to.global_namespaces,
             "namespaces that --namespace-isolation leaves open, with commas between");
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
                "remove the configuration at exit; the kubeconfig stays");
  flags.boolean("skip-config-watch", &to.skip_config_watch,
                "do not follow the primary CNI configuration");
  flags.boolean("rename-conf-file", &to.rename_conf_file,
                "rename the primary to <name>.old after the configuration was generated");
  flags.boolean({"version", 'v'}, &to.wants_version, "print the version and exit");
}

PFlags make_flags(Options& to) {
  PFlags flags("thin_entrypoint",
               "Installs multus on a node: copies the program, writes its kubeconfig and its CNI "
               "configuration,\nand keeps both current until it is told to end.");
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
