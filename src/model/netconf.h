// Multus's own configuration, as a request brings it (02, 1): every key with its type, its default
// and its checks. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/log_options.h"
#include "base/result.h"
#include "cni/result.h"
#include "json/json.h"
#include "model/delegate.h"
#include "model/runtime_config.h"

namespace mnet::model {

// One attachment as GC names it.
struct AttachmentId {
  std::string container_id, ifname;
  friend auto operator<=>(const AttachmentId&, const AttachmentId&) = default;
};

// Which networks of one pod are attached side by side (00-index, "parallelAttach").
enum class ParallelAttach : std::uint8_t {
  kSafe,  // those that cannot get in each other's way: model/parallel.h
  kOff,
  kAll,  // all after the master
};

// What a CHECK makes of the networks beside the pod's main one.
enum class CheckNetworks : std::uint8_t {
  kAll,      // a network that fails makes the CHECK fail
  kPrimary,  // they are not checked
  kReport,   // they are checked; what fails is reported
};

struct NetConf {
  std::string cni_version, name;
  std::string type;  // what Multus is called on this node: no delegate may be of that type
  std::optional<cni::NetResult> prev_result;  // in the form of 1.1.0
  // `cni.dev/valid-attachments`, or `cni.dev/attachments` if only that is there; none: key absent.
  std::optional<std::vector<AttachmentId>> valid_attachments;

  std::string conf_dir = "/etc/cni/multus/net.d";
  std::string cni_dir = "/var/lib/cni/multus";
  std::string bin_dir = "/opt/cni/bin";

  std::string cluster_network;
  std::optional<std::vector<std::string>> default_networks;
  std::vector<Delegate> delegates;  // empty if there is a clusterNetwork; the first is the master
  std::string auxiliary_chain_name;

  std::string kubeconfig;
  std::string multus_namespace = "kube-system";
  std::vector<std::string> system_namespaces = {"kube-system"};
  bool namespace_isolation = false;
  std::vector<std::string> non_isolated_namespaces = {"default"};  // of `globalNamespaces`
  // Where the default-network annotation may take its definition from; none: no further limit.
  std::optional<std::vector<std::string>> default_network_namespaces;
  // Types that networks which pods select may name; none: all.
  std::optional<std::vector<std::string>> allowed_plugin_types;
  bool allow_annotation_devices = false;  // pods may name a `deviceID` not allocated to them

  std::string readiness_indicator_file;
  std::optional<RuntimeConfig> runtime_config;
  bool retry_delete_on_error = false;
  std::chrono::milliseconds pod_lookup_timeout{2500};
  ParallelAttach parallel_attach = ParallelAttach::kSafe;
  // None: kReport, but inline `delegates` fail a CHECK as with the original, which checks those.
  std::optional<CheckNetworks> check_networks;

  std::string log_file, log_level;
  bool log_to_stderr = true;
  std::optional<LogOptions> log_options;

  // Of read_netconf_for_del() alone: why this is not all that was written.
  std::optional<Error> fault;
};

inline constexpr std::size_t kMaxNetConf = 4u << 20;

Result<void> check_netconf_size(std::string_view text);
// The document of a configuration: not too large, and an object.
Result<json::Object> parse_netconf(std::string_view text);
// A `prevResult` counts for ADD and CHECK alone; for other verbs it may be anything.
enum class PrevResult : std::uint8_t { kRead, kIgnored };
Result<NetConf> read_netconf(json::Object document, PrevResult prev_result = PrevResult::kRead);
// The members of `logOptions`.
Result<void> read_log_options(const json::Object& object, std::string path, LogOptions& out);
// DEL works from the records whatever became of the configuration: what cannot be read is left at
// its default, and `fault` says why.
NetConf read_netconf_for_del(json::Object document);
// A program's own settings, which need name no networks: every key that requests read has the
// right type. Errors begin with the key.
Result<NetConf> read_settings(const json::Object& document);

// The members that `read` accepts, each looked at alone.
json::Object readable_members(const json::Object& document,
                              const std::function<Result<void>(const json::Object&)>& read);

}  // namespace mnet::model
