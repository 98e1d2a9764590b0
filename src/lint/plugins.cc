#include "lint/plugins.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace mnet::lint {
namespace {

using namespace std::string_view_literals;

constexpr std::array kCommon = {"cniVersion"sv,   "cniVersions"sv,
                                "name"sv,         "type"sv,
                                "ipam"sv,         "dns"sv,
                                "args"sv,         "capabilities"sv,
                                "prevResult"sv,   "runtimeConfig"sv,
                                "disableCheck"sv, "disableGC"sv,
                                "plugins"sv,      "loadOnlyInlinedPlugins"sv};

constexpr std::array kBridge = {"bridge"sv,
                                "addIf"sv,
                                "isGateway"sv,
                                "isDefaultGateway"sv,
                                "forceAddress"sv,
                                "ipMasq"sv,
                                "ipMasqBackend"sv,
                                "mtu"sv,
                                "hairpinMode"sv,
                                "promiscMode"sv,
                                "vlan"sv,
                                "vlanTrunk"sv,
                                "macspoofchk"sv,
                                "preserveDefaultVlan"sv,
                                "enabledad"sv,
                                "disableContainerInterface"sv,
                                "uplink"sv,
                                "portIsolation"sv,
                                "mac"sv};
constexpr std::array kMacvlan = {"master"sv,          "mode"sv,      "mtu"sv, "mac"sv,
                                 "linkInContainer"sv, "bcqueuelen"sv};
constexpr std::array kIpvlan = {"master"sv, "mode"sv, "mtu"sv, "linkInContainer"sv};
constexpr std::array kVlan = {"master"sv, "vlanId"sv, "mtu"sv, "linkInContainer"sv};
constexpr std::array kPtp = {"ipMasq"sv, "ipMasqBackend"sv, "mtu"sv};
constexpr std::array kHostDevice = {"device"sv, "hwaddr"sv, "kernelpath"sv, "pciBusID"sv,
                                    "auxDevice"sv};
constexpr std::array kTap = {"multiQueue"sv, "mtu"sv,   "mac"sv,           "bridge"sv,
                             "owner"sv,      "group"sv, "selinuxContext"sv};
constexpr std::array kVrf = {"vrfname"sv, "table"sv};
constexpr std::array kTuning = {"sysctl"sv,   "mac"sv,    "promisc"sv, "mtu"sv,
                                "allmulti"sv, "txQLen"sv, "dataDir"sv};
constexpr std::array kPortmap = {"snat"sv,        "conditionsV4"sv,         "conditionsV6"sv,
                                 "markMasqBit"sv, "externalSetMarkChain"sv, "masqAll"sv,
                                 "backend"sv};
constexpr std::array kBandwidth = {"ingressRate"sv, "ingressBurst"sv,  "egressRate"sv,
                                   "egressBurst"sv, "shapedSubnets"sv, "unshapedSubnets"sv};
constexpr std::array kFirewall = {"backend"sv, "iptablesAdminChainName"sv, "firewalldZone"sv,
                                  "ingressPolicy"sv};
constexpr std::array kSriov = {"deviceID"sv,    "vlan"sv,        "vlanQoS"sv,  "vlanProto"sv,
                               "mac"sv,         "spoofchk"sv,    "trust"sv,    "link_state"sv,
                               "min_tx_rate"sv, "max_tx_rate"sv, "logLevel"sv, "logFile"sv};
constexpr std::array kHostLocal = {"subnet"sv, "rangeStart"sv, "rangeEnd"sv,   "gateway"sv,
                                   "routes"sv, "ranges"sv,     "resolvConf"sv, "dataDir"sv};
constexpr std::array kStatic = {"addresses"sv, "routes"sv};
constexpr std::array kDhcp = {"daemonSocketPath"sv, "request"sv, "provide"sv, "skipDefault"sv,
                              "priority"sv};
constexpr std::array kWhereabouts = {"range"sv,
                                     "range_start"sv,
                                     "range_end"sv,
                                     "exclude"sv,
                                     "gateway"sv,
                                     "ipRanges"sv,
                                     "routes"sv,
                                     "addresses"sv,
                                     "network_name"sv,
                                     "enable_overlapping_ranges"sv,
                                     "node_slice_size"sv,
                                     "log_file"sv,
                                     "log_level"sv,
                                     "kubernetes"sv,
                                     "datastore"sv,
                                     "configuration_path"sv,
                                     "namespace"sv,
                                     "sleep_for_race"sv,
                                     "reconciler_cron_expression"sv,
                                     "leader_lease_duration"sv,
                                     "leader_renew_deadline"sv,
                                     "leader_retry_period"sv};

constexpr std::array<KnownPlugin, 18> kPlugins = {{
    {"bridge", kBridge, false},
    {"macvlan", kMacvlan, false},
    {"ipvlan", kIpvlan, false},
    {"vlan", kVlan, false},
    {"ptp", kPtp, false},
    {"host-device", kHostDevice, false},
    {"tap", kTap, false},
    {"vrf", kVrf, false},
    {"tuning", kTuning, false},
    {"portmap", kPortmap, false},
    {"bandwidth", kBandwidth, false},
    {"firewall", kFirewall, false},
    {"sriov", kSriov, false},
    {"ib-sriov", {}, false},
    {"host-local", kHostLocal, true},
    {"static", kStatic, true},
    {"dhcp", kDhcp, true},
    {"whereabouts", kWhereabouts, true},
}};

// Includes plugins whose keys are not known here.
constexpr std::array kTypes = {"bridge"sv,
                               "macvlan"sv,
                               "ipvlan"sv,
                               "vlan"sv,
                               "ptp"sv,
                               "host-device"sv,
                               "loopback"sv,
                               "dummy"sv,
                               "tap"sv,
                               "vrf"sv,
                               "tuning"sv,
                               "portmap"sv,
                               "bandwidth"sv,
                               "firewall"sv,
                               "sbr"sv,
                               "host-local"sv,
                               "static"sv,
                               "dhcp"sv,
                               "whereabouts"sv,
                               "sriov"sv,
                               "ib-sriov"sv,
                               "ovs"sv,
                               "calico"sv,
                               "calico-ipam"sv,
                               "flannel"sv,
                               "cilium-cni"sv,
                               "weave-net"sv,
                               "weave-ipam"sv,
                               "kube-ovn"sv,
                               "antrea"sv,
                               "userspace"sv,
                               "bond"sv,
                               "rdma"sv,
                               "cnv-bridge"sv,
                               "cnv-tuning"sv,
                               "accelerated-bridge"sv,
                               "nv-ipam"sv,
                               "route-override"sv,
                               "passthru"sv,
                               "ovn-k8s-cni-overlay"sv,
                               "aws-cni"sv,
                               "azure-vnet"sv,
                               "azure-vnet-ipam"sv,
                               "egress-router"sv,
                               "ipoib"sv,
                               "netavark"sv,
                               "win-bridge"sv,
                               "win-overlay"sv,
                               "istio-cni"sv,
                               "linkerd-cni"sv,
                               "spiderpool"sv,
                               "ovs-mirror-producer"sv,
                               "afxdp"sv,
                               "vpp"sv,
                               "dpdk"sv,
                               "ipvtap"sv,
                               "macvtap"sv,
                               "noop"sv,
                               "debug"sv,
                               "cnitest"sv};

}  // namespace

std::span<const std::string_view> known_types() { return kTypes; }

const KnownPlugin* find_plugin(std::string_view type, bool is_ipam) {
  const auto* found = std::ranges::find_if(kPlugins, [&](const KnownPlugin& plugin) {
    return plugin.type == type && plugin.is_ipam == is_ipam;
  });
  return found == kPlugins.end() ? nullptr : found;
}

std::span<const std::string_view> common_keys() { return kCommon; }

}  // namespace mnet::lint
