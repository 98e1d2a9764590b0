#include "settings/daemon_keys.h"

#include <array>
#include <span>
#include <string_view>

namespace mnet::settings {
namespace {

using namespace std::string_view_literals;

constexpr std::array kKeys = {"allowAnnotationDevices"sv,
                              "allowTryDeleteOnErr"sv,
                              "allowedPluginTypes"sv,
                              "auxiliaryCNIChainName"sv,
                              "binDir"sv,
                              "capabilities"sv,
                              "checkNetworks"sv,
                              "chrootDir"sv,
                              "cleanupConfigOnExit"sv,
                              "clusterNetwork"sv,
                              "cni.dev/attachments"sv,
                              "cni.dev/valid-attachments"sv,
                              "cniConfigDir"sv,
                              "cniDir"sv,
                              "cniVersion"sv,
                              "confDir"sv,
                              "connectionLimit"sv,
                              "daemonSocketDir"sv,
                              "defaultNetworkNamespaces"sv,
                              "defaultNetworks"sv,
                              "defaultnetworkfile"sv,
                              "defaultnetworkwaitseconds"sv,
                              "delegateCgroup"sv,
                              "delegateMountNamespace"sv,
                              "delegateTimeout"sv,
                              "delegates"sv,
                              "dns"sv,
                              "enablePprof"sv,
                              "forceCNIVersion"sv,
                              "globalNamespaces"sv,
                              "hotplug"sv,
                              "ipam"sv,
                              "kubeconfig"sv,
                              "kubeletDir"sv,
                              "logFile"sv,
                              "logFormat"sv,
                              "logLevel"sv,
                              "logOptions"sv,
                              "logToStderr"sv,
                              "maxDelegates"sv,
                              "maxRequestBytes"sv,
                              "metricsAddress"sv,
                              "metricsPort"sv,
                              "multusAutoconfigDir"sv,
                              "multusConfigFile"sv,
                              "multusMasterCNI"sv,
                              "multusNamespace"sv,
                              "name"sv,
                              "namespaceIsolation"sv,
                              "objectsDir"sv,
                              "overrideNetworkName"sv,
                              "parallelAttach"sv,
                              "perNodeCertificate"sv,
                              "podLookupTimeout"sv,
                              "prevResult"sv,
                              "readinessindicatorfile"sv,
                              "reconcile"sv,
                              "reconcileGrace"sv,
                              "retryDeleteOnError"sv,
                              "runtimeConfig"sv,
                              "shimTimeout"sv,
                              "socketDir"sv,
                              "systemNamespaces"sv,
                              "type"sv};

constexpr std::array kOfAttachments = {"containerID"sv, "ifname"sv};
constexpr std::array kOfCertificate = {"bootstrapKubeconfig"sv, "certDir"sv, "certDuration"sv,
                                       "enabled"sv};
constexpr std::array kOfHotplug = {"enabled"sv, "namespaces"sv,   "onAttributeChange"sv,
                                   "resync"sv,  "retryInitial"sv, "retryMax"sv,
                                   "workers"sv};
constexpr std::array kOfLogOptions = {"compress"sv, "maxAge"sv, "maxBackups"sv, "maxSize"sv};

}  // namespace

std::span<const std::string_view> daemon_keys() { return kKeys; }

std::span<const std::string_view> daemon_members(std::string_view key) {
  if (key == "hotplug") return kOfHotplug;
  if (key == "logOptions") return kOfLogOptions;
  if (key == "perNodeCertificate") return kOfCertificate;
  if (key.starts_with("cni.dev/")) return kOfAttachments;
  return {};
}

}  // namespace mnet::settings
