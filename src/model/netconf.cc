#include "model/netconf.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/result.h"
#include "json/fields.h"
#include "json/json.h"
#include "model/delegate.h"
#include "model/runtime_config.h"

namespace mnet::model {
namespace {

constexpr std::string_view kFault = "failed to load netconf";
constexpr std::string_view kNoPrevResult = "could not parse prevResult";

// An explicit "" means the default (02, 1).
void read_path(json::Fields& fields, std::string_view key, std::string& path) {
  std::string given;
  fields.read(key, given);
  if (!given.empty()) path = std::move(given);
}

Result<void> read_log_options(const json::Object& object, std::string path, NetConf& conf) {
  LogOptions options;
  json::Fields fields(object, std::move(path));
  fields.read("maxAge", options.max_age);
  fields.read("maxSize", options.max_size);
  fields.read("maxBackups", options.max_backups);
  fields.read("compress", options.compress);
  conf.log_options = options;
  return fields.done();
}

void read_lookup_timeout(json::Fields& fields, NetConf& conf) {
  double seconds = 2.5;
  fields.read("podLookupTimeout", seconds);
  // More than a day is no different from a day, and does not overflow.
  if (!(seconds >= 0)) return fields.fail("podLookupTimeout", "must not be negative");
  conf.pod_lookup_timeout =
      std::chrono::milliseconds(std::llround(std::min(seconds, 86400.0) * 1000));
}

void read_parallel_attach(json::Fields& fields, NetConf& conf) {
  std::string text = "safe";
  fields.read("parallelAttach", text);
  if (text == "safe") {
    conf.parallel_attach = ParallelAttach::kSafe;
  } else if (text == "off") {
    conf.parallel_attach = ParallelAttach::kOff;
  } else if (text == "all") {
    conf.parallel_attach = ParallelAttach::kAll;
  } else {
    fields.fail("parallelAttach", cat("must be safe, off or all, not ", go_quoted(text)));
  }
}

Result<std::vector<AttachmentId>> read_attachments(const json::Value& value, std::string_view key) {
  std::vector<AttachmentId> attachments;
  const json::Array* items = value.as_array();
  if (items == nullptr) return json::wrong_kind(key, "a list", value);
  for (std::size_t i = 0; i < items->size(); ++i) {
    const std::string path = cat(key, "[", i, "]");
    const json::Object* object = (*items)[i].as_object();
    if (object == nullptr) return json::wrong_kind(path, "an object", (*items)[i]);
    AttachmentId attachment;
    json::Fields fields(*object, path);
    fields.read("containerID", attachment.container_id);
    fields.read("ifname", attachment.ifname);
    MNET_TRY_VOID(fields.done());
    attachments.push_back(std::move(attachment));
  }
  return attachments;
}

// `null` instead of the list is an empty one: the key is there, as GC's step 1 asks (02, 7.3; J2).
Result<void> read_valid_attachments(const json::Object& object, NetConf& conf) {
  for (const std::string_view key : {"cni.dev/valid-attachments", "cni.dev/attachments"}) {
    const json::Value* value = object.find_folded(key);
    if (value == nullptr) continue;
    if (value->is_null()) {
      conf.valid_attachments.emplace();
      return {};
    }
    MNET_TRY(auto&& attachments, read_attachments(*value, key));
    conf.valid_attachments = std::move(attachments);
    return {};
  }
  return {};
}

void read_namespaces(json::Fields& fields, NetConf& conf) {
  fields.read("multusNamespace", conf.multus_namespace);
  fields.read("systemNamespaces", conf.system_namespaces);
  fields.read("namespaceIsolation", conf.namespace_isolation);
  fields.read("defaultNetworkNamespaces", conf.default_network_namespaces);
  std::string global;
  fields.read("globalNamespaces", global);
  if (global.empty()) return;
  conf.non_isolated_namespaces.clear();
  for (const std::string_view item : split(global, ',')) {
    conf.non_isolated_namespaces.emplace_back(trim(item));
  }
}

Result<void> read_members(const json::Object& object, NetConf& conf) {
  json::Fields fields(object);
  fields.read("cniVersion", conf.cni_version);
  fields.read("name", conf.name);
  fields.read("type", conf.type);
  read_path(fields, "confDir", conf.conf_dir);
  read_path(fields, "cniDir", conf.cni_dir);
  read_path(fields, "binDir", conf.bin_dir);
  fields.read("clusterNetwork", conf.cluster_network);
  fields.read("defaultNetworks", conf.default_networks);
  fields.read("auxiliaryCNIChainName", conf.auxiliary_chain_name);
  fields.read("kubeconfig", conf.kubeconfig);
  read_namespaces(fields, conf);
  fields.read("allowedPluginTypes", conf.allowed_plugin_types);
  fields.read("readinessindicatorfile", conf.readiness_indicator_file);
  fields.read("retryDeleteOnError", conf.retry_delete_on_error);
  read_lookup_timeout(fields, conf);
  read_parallel_attach(fields, conf);
  fields.read("logFile", conf.log_file);
  fields.read("logLevel", conf.log_level);
  fields.read("logToStderr", conf.log_to_stderr);
  fields.object("logOptions", [&](const json::Object& options, std::string path) {
    return read_log_options(options, std::move(path), conf);
  });
  fields.object("runtimeConfig", [&](const json::Object& value, std::string path) -> Result<void> {
    MNET_TRY(auto&& config, read_runtime_config(value, std::move(path)));
    conf.runtime_config = std::move(config);
    return {};
  });
  MNET_TRY_VOID(fields.done());
  return read_valid_attachments(object, conf);
}

// A `prevResult` is read by the configuration's version and kept in the newest form.
Result<void> read_prev_result(const json::Object& object, NetConf& conf) {
  auto result = cni::read_prev_result(object);
  if (!result) {
    // cni says `could not parse prevResult` itself where 01, 2.7 does.
    if (result.error().text().starts_with(kNoPrevResult)) return std::move(result).error();
    return std::move(result).error().wrap(kNoPrevResult);
  }
  if (!*result) return {};
  auto newest = cni::convert(**result, "1.1.0");
  if (!newest) return std::move(newest).error().wrap(kNoPrevResult);
  conf.prev_result = *std::move(newest);
  return {};
}

Result<void> read_delegates(const json::Object& object, NetConf& conf) {
  const json::Value* value = object.find_folded("delegates");
  const json::Array* entries = nullptr;
  if (value != nullptr && !value->is_null()) {
    entries = value->as_array();
    if (entries == nullptr) return json::wrong_kind("delegates", "a list", *value).wrap(kFault);
    for (std::size_t i = 0; i < entries->size(); ++i) {
      const json::Value& entry = (*entries)[i];
      if (entry.as_object() != nullptr) continue;
      return json::wrong_kind(cat("delegates[", i, "]"), "an object", entry).wrap(kFault);
    }
  }
  if (!conf.cluster_network.empty()) return {};
  if (entries == nullptr || entries->empty()) {
    return Error(Errc::kInvalid, "at least one delegate/clusterNetwork must be specified");
  }
  for (std::size_t i = 0; i < entries->size(); ++i) {
    auto delegate = parse_delegate(json::dump((*entries)[i]));
    if (!delegate) {
      return std::move(delegate).error().wrap(cat("failed to load delegate ", i, " config"));
    }
    delegate->is_master = i == 0;
    conf.delegates.push_back(*std::move(delegate));
  }
  return {};
}

}  // namespace

Result<void> check_netconf_size(std::string_view text) {
  if (text.size() <= kMaxNetConf) return {};
  return Error(Errc::kInvalid, cat(kFault, ": larger than ", kMaxNetConf, " bytes"));
}

Result<json::Object> parse_netconf(std::string_view text) {
  MNET_TRY_VOID(check_netconf_size(text));
  auto document = json::parse_object(text);
  if (!document) return std::move(document).error().wrap(kFault);
  return document;
}

Result<NetConf> read_netconf(json::Object document, NetConfRules rules) {
  // A previous result that does not count may be anything.
  if (!rules.check_prev_result) document.erase_folded("prevResult");

  NetConf conf;
  if (auto checked = check_known_members(document); !checked) {
    return std::move(checked).error().wrap(kFault);
  }
  if (auto read = read_members(document, conf); !read) return std::move(read).error().wrap(kFault);
  if (rules.check_prev_result) {
    MNET_TRY_VOID(read_prev_result(document, conf));
  }
  if (auto read = read_delegates(document, conf); !read) {
    if (rules.check_delegates) return std::move(read).error();
    conf.delegates.clear();
  }
  return conf;
}

}  // namespace mnet::model
