#include "lint/daemon_keys.h"

#include <array>
#include <span>
#include <string_view>

namespace mnet::lint {
namespace {

using namespace std::string_view_literals;

constexpr std::array kKeys = {"socketDir"sv,
                              "daemonSocketDir"sv,
                              "chrootDir"sv,
                              "delegateMountNamespace"sv,
                              "connectionLimit"sv,
                              "maxDelegates"sv,
                              "delegateTimeout"sv,
                              "maxRequestBytes"sv,
                              "shimTimeout"sv,
                              "kubeconfig"sv,
                              "perNodeCertificate"sv,
                              "objectsDir"sv,
                              "podLookupTimeout"sv,
                              "kubeletDir"sv,
                              "multusConfigFile"sv,
                              "multusAutoconfigDir"sv,
                              "cniConfigDir"sv,
                              "multusMasterCNI"sv,
                              "cniVersion"sv,
                              "forceCNIVersion"sv,
                              "overrideNetworkName"sv,
                              "readinessindicatorfile"sv,
                              "cleanupConfigOnExit"sv,
                              "type"sv,
                              "name"sv,
                              "capabilities"sv,
                              "binDir"sv,
                              "cniDir"sv,
                              "confDir"sv,
                              "clusterNetwork"sv,
                              "defaultNetworks"sv,
                              "delegates"sv,
                              "namespaceIsolation"sv,
                              "globalNamespaces"sv,
                              "systemNamespaces"sv,
                              "multusNamespace"sv,
                              "auxiliaryCNIChainName"sv,
                              "logFile"sv,
                              "logLevel"sv,
                              "logToStderr"sv,
                              "logOptions"sv,
                              "logFormat"sv,
                              "metricsPort"sv,
                              "metricsAddress"sv,
                              "enablePprof"sv,
                              "parallelAttach"sv,
                              "retryDeleteOnError"sv,
                              "checkNetworks"sv,
                              "defaultNetworkNamespaces"sv,
                              "allowedPluginTypes"sv,
                              "reconcile"sv,
                              "reconcileGrace"sv,
                              "hotplug"sv};

}  // namespace

std::span<const std::string_view> daemon_keys() { return kKeys; }

}  // namespace mnet::lint
