#include <string>

#include "cni_node/command.h"

namespace mnet::cni_node {

std::string usage() {
  return R"(Usage: cni-node <command> [options]

Puts CNI plugins, CNI configurations and Kubernetes objects on a node, and takes them away again.

Commands:
  install    put the named plugins, configurations and manifests in place
  uninstall  take them away
  apply      install what is desired and not current, then uninstall what is current and not desired
  watch      do that again whenever a ConfigMap, a template or a file that one points to changes
  list       show the plugins that can be installed
  version    show the version
  help       show this text

Lists (install, uninstall, apply, watch): names separated by commas or blanks
  --plugins=DESIRED[:CURRENT]    plugin programs
  --configs=DESIRED[:CURRENT]    CNI configurations, made from templates of the same name; __FILE__ in a
                                 template is replaced by that file of the node's configuration directory
  --manifests=DESIRED[:CURRENT]  files of Kubernetes objects; $NAME and ${NAME} are replaced from the environment
  CURRENT says what is there now; only apply uses it.

Options of install, uninstall, apply:
  --pause              wait for SIGTERM or SIGINT afterwards
  --dry-run            change nothing, show what would change

Options of watch:
  --configmap=[NS/]NAME  take the lists from the keys plugins, configs, manifests of this ConfigMap
  --resync=5m            check everything so often; 0: never
  --cleanup-on-exit      uninstall everything on SIGTERM or SIGINT

Directories (absolute paths; also from the environment: CNI_NODE_PLUGIN_SOURCE and so on):
  --plugin-source=/opt/cni/bin                      plugins to be installed
  --plugin-target=/host/opt/cni/bin                 plugins of the node
  --config-source=/etc/cni/net.d                    templates
  --config-target=/host/etc/cni/net.d               configurations of the node
  --manifest-source=/etc/kubernetes/manifests       manifests
  --host-root=/host                                 where the node's own root is mounted
  --state=/host/var/lib/cni-node/state.json         what watch has installed

Kubernetes:
  --kubeconfig=FILE      default: $KUBECONFIG, ~/.kube/config, then the pod's service account
  --namespace=NS         of objects that name none
  --field-manager=NAME   default cni-node
  --env=A,B              replace only these variables; default all
  --strict-env           an unset variable is an error
  --wait-timeout=30      seconds to wait for deletions and new definitions; 0: do not wait

Other:
  --no-validate          do not check that configurations are JSON
  --quiet                leave out the contents of configurations and manifests, and the summary

Exit status: 0 done, 1 something failed, 2 wrong usage (nothing was touched), 128+n ended by signal n.
)";
}

}  // namespace mnet::cni_node
