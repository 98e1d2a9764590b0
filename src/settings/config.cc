#include "settings/config.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/address.h"
#include "devices/kubelet_dir.h"
#include "json/fields.h"
#include "json/json.h"
#include "model/netconf.h"
#include "model/reconcile_mode.h"
#include "settings/fragments.h"
#include "settings/hotplug_settings.h"
#include "settings/log_settings.h"
#include "sys/file.h"
#include "wire/wire.h"

namespace mnet::settings {
namespace {

// A year, in seconds: more is not a limit any more, and the clock's arithmetic stays sound.
constexpr std::int64_t kLongest = 31'536'000;

Result<void> read_certificate(const json::Object& object, std::string path,
                              PerNodeCertificate& out) {
  json::Fields fields(object, std::move(path));
  fields.read("enabled", out.enabled);
  fields.read("bootstrapKubeconfig", out.bootstrap_kubeconfig);
  fields.read("certDir", out.cert_dir);
  fields.read("certDuration", out.cert_duration);
  return fields.done();
}

Result<void> read_capabilities(const json::Object& object, const std::string& path,
                               json::Object& out) {
  for (const auto& [name, value] : object) {
    if (value.as_bool() == nullptr && !value.is_null()) {
      return json::wrong_kind(cat(path, ".", excerpt(name)), "a boolean", value);
    }
    out.set(name, value.is_null() ? json::Value(false) : value);
  }
  return {};
}

// A limit of zero would only be noticed by those whose requests fail.
void read_positive(json::Fields& fields, std::string_view key, std::int64_t& out) {
  fields.read(key, out);
  if (out <= 0) fields.fail(key, cat("must be greater than 0, got ", out));
}

// What the configuration manager reads.
void read_node_configuration(json::Fields& fields, Config& config) {
  std::string only_the_cores;
  fields.read("name", only_the_cores);
  fields.read("daemonSocketDir", config.daemon_socket_dir);
  fields.read("multusConfigFile", config.multus_config_file);
  fields.read("multusAutoconfigDir", config.multus_autoconfig_dir);
  fields.read("cniConfigDir", config.cni_config_dir);
  fields.read("multusMasterCNI", config.multus_master_cni);
  fields.read("cniVersion", config.cni_version);
  fields.read("forceCNIVersion", config.force_cni_version);
  fields.read("overrideNetworkName", config.override_network_name);
  fields.read("cleanupConfigOnExit", config.cleanup_config_on_exit);
  fields.read("readinessindicatorfile", config.readiness_indicator_file);
  fields.read("type", config.type);
  fields.object("capabilities", [&](const json::Object& object, const std::string& path) {
    return read_capabilities(object, path, config.capabilities);
  });
  fields.read("binDir", config.bin_dir);
  fields.read("cniDir", config.cni_dir);
  fields.read("clusterNetwork", config.cluster_network);
  fields.read("namespaceIsolation", config.namespace_isolation);
  fields.read("globalNamespaces", config.global_namespaces);
  fields.read("auxiliaryCNIChainName", config.auxiliary_chain_name);
  if (fields.find("shimTimeout") != nullptr) {
    read_positive(fields, "shimTimeout", config.shim_timeout.emplace(1));
  }
}

// Reads one key of metrics. A wrong value is not fatal (03, 2.3) but turns metrics off: a port must
// not be open where the configuration may have wanted it closed.
template <typename T>
bool read_harmless(const json::Object& document, std::string_view key, T& out,
                   std::vector<std::string>& warnings) {
  json::Fields fields(document);
  fields.read(key, out);
  auto read = fields.done();
  if (!read) warnings.push_back(cat(read.error().text(), "; there are no metrics"));
  return read.has_value();
}

void read_metrics(const json::Object& document, Config& config) {
  std::vector<std::string>& warnings = config.warnings;
  bool is_right = read_harmless(document, "metricsPort", config.metrics_port, warnings);
  is_right =
      read_harmless(document, "metricsAddress", config.metrics_address, warnings) && is_right;
  is_right = read_harmless(document, "enablePprof", config.enable_pprof, warnings) && is_right;
  const auto refuse = [&](std::string_view why) {
    warnings.push_back(cat(why, "; there are no metrics"));
    is_right = false;
  };
  if (config.metrics_port && (*config.metrics_port < 0 || *config.metrics_port > 65535)) {
    refuse(cat("metricsPort: not a port: ", *config.metrics_port));
  }
  const std::string& address = config.metrics_address;
  if (!address.empty() && !cni::IpAddress::parse(address)) {
    refuse(cat("metricsAddress: not a numeric address: ", go_quoted(address)));
  }
  if (!is_right) config.metrics_port.reset();
}

void read_reconcile(json::Fields& fields, Config& config) {
  std::optional<std::string> text;
  fields.read("reconcile", text);
  if (text == "off") {
    config.reconcile = model::ReconcileMode::kOff;
  } else if (text == "report") {
    config.reconcile = model::ReconcileMode::kReport;
  } else if (text && *text != "on") {
    fields.fail("reconcile", cat("must be off, report or on, not ", go_quoted(*text)));
  }
  std::int64_t seconds = config.reconcile_grace.count();
  read_positive(fields, "reconcileGrace", seconds);
  config.reconcile_grace = std::chrono::seconds(std::min(seconds, kLongest));
}

void read_serving(json::Fields& fields, Config& config) {
  fields.read("chrootDir", config.chroot_dir);
  fields.read("socketDir", config.socket_dir);
  fields.read("connectionLimit", config.connection_limit);
  fields.object("perNodeCertificate", [&](const json::Object& object, std::string path) {
    return read_certificate(object, std::move(path), config.per_node_certificate.emplace());
  });
  read_positive(fields, "maxRequestBytes", config.max_request_bytes);
  std::int64_t seconds = config.delegate_timeout.count();
  read_positive(fields, "delegateTimeout", seconds);
  config.delegate_timeout = std::chrono::seconds(std::min(seconds, kLongest));
  if (fields.find("maxDelegates") != nullptr) {
    read_positive(fields, "maxDelegates", config.max_delegates.emplace(1));
  }
  fields.read("delegateCgroup", config.delegate_cgroup);
  fields.read("delegateMountNamespace", config.delegate_mount_namespace);
  read_reconcile(fields, config);
  read_hotplug(fields, config.hotplug, config.warnings);
  fields.read("objectsDir", config.objects_dir);
  fields.read("kubeletDir", config.kubelet_dir);
}

// As a JSON merge patch (RFC 7396).
void lay_over(json::Object& document, const json::Object& overrides) {
  for (const auto& [key, value] : overrides) {
    const json::Value* there = document.find_folded(key);
    if (value.is_null()) {
      document.erase_folded(key);
    } else if (value.as_object() != nullptr && there != nullptr && there->as_object() != nullptr) {
      json::Object inner = *there->as_object();
      lay_over(inner, *value.as_object());
      document.set_folded(key, std::move(inner));
    } else {
      document.set_folded(key, value);
    }
  }
}

using Origins = std::map<std::string, std::string>;

// A fragment must be correct by itself: only then can its error name it.
Result<void> lay_fragment_over(json::Object& document, const Fragment& fragment, Origins& origins) {
  if (auto alone = config_of(fragment.document); !alone) {
    return std::move(alone).error().wrap(fragment.path);
  }
  for (const auto& [key, value] : fragment.document) origins[to_lower(key)] = fragment.path;
  lay_over(document, fragment.document);
  return {};
}

constexpr std::string_view kUnreadable = "failed to unmarshall the daemon configuration";

}  // namespace

Result<Config> config_of(json::Object document) {
  Config config;
  json::Fields fields(document);
  read_serving(fields, config);
  read_log_settings(fields, config);
  read_node_configuration(fields, config);
  if (auto read = fields.done(); !read) return std::move(read).error().wrap(kUnreadable);
  if (auto read = model::read_settings(document); !read) {
    return std::move(read).error().wrap(kUnreadable);
  }
  read_metrics(document, config);
  // An empty text means the default, for keys that have one.
  if (config.socket_dir.empty()) config.socket_dir = Config().socket_dir;
  if (config.kubelet_dir.empty()) config.kubelet_dir = devices::kDefaultKubeletDir;
  config.document = std::move(document);
  return config;
}

std::string Config::plugin_dir() const {
  return bin_dir.empty() ? model::NetConf().bin_dir : bin_dir;
}

std::string Config::records_dir() const {
  return cni_dir.empty() ? std::string(wire::kDefaultCniDir) : cni_dir;
}

Result<Config> parse_config(std::string_view text) {
  auto document = json::parse_object(text);
  if (!document) return std::move(document).error().wrap(kUnreadable);
  return config_of(*std::move(document));
}

Result<Config> load_config(const std::string& path, const json::Object& overrides) {
  const auto text = sys::read_file(path);
  if (!text) return text.error().wrap("failed to read the daemon configuration");
  auto document = json::parse_object(*text);
  if (!document) return std::move(document).error().wrap(kUnreadable).wrap(path);
  MNET_TRY(auto&& fragments, load_fragments(path));
  MNET_TRY(auto&& config, merge_config({.file = {.path = path, .document = *std::move(document)},
                                        .fragments = std::move(fragments.read),
                                        .overrides = overrides}));
  std::ranges::move(fragments.warnings, std::back_inserter(config.warnings));
  return std::move(config);
}

Result<Config> merge_config(Parts parts) {
  json::Object document = std::move(parts.file.document);
  Origins origins;
  for (const Fragment& fragment : parts.fragments) {
    MNET_TRY_VOID(lay_fragment_over(document, fragment, origins));
  }
  lay_over(document, parts.overrides);
  auto config = config_of(std::move(document));
  if (!config) return std::move(config).error().wrap(parts.file.path);
  config->file = std::move(parts.file.path);
  config->origins = std::move(origins);
  for (Fragment& fragment : parts.fragments) config->fragments.push_back(std::move(fragment.path));
  return config;
}

const std::string& Config::file_of(std::string_view key) const {
  const auto origin = origins.find(to_lower(key));
  return origin == origins.end() ? file : origin->second;
}

Result<void> check_connection_limit(const Config& config) {
  if (!config.connection_limit || *config.connection_limit > 0) return {};
  return Error(Errc::kInvalid,
               cat("connection limit must be greater than 0, got ", *config.connection_limit));
}

}  // namespace mnet::settings
