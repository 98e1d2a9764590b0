#include "model/netconf.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log_options.h"
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

void read_check_networks(json::Fields& fields, NetConf& conf) {
  std::optional<std::string> text;
  fields.read("checkNetworks", text);
  if (!text) return;
  if (*text == "all") {
    conf.check_networks = CheckNetworks::kAll;
  } else if (*text == "primary") {
    conf.check_networks = CheckNetworks::kPrimary;
  } else if (*text == "report") {
    conf.check_networks = CheckNetworks::kReport;
  } else {
    fields.fail("checkNetworks", cat("must be all, primary or report, not ", go_quoted(*text)));
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

// Without the white space at both ends that Unicode knows: a list that was copied from a page has
// no-break spaces in it, and the original takes them off.
std::string_view trim_unicode(std::string_view text) {
  constexpr std::array<std::string_view, 25> kSpaces = {
      " ",      "\t",     "\n",     "\v",     "\f",     "\r",     "\u0085", "\u00a0", "\u1680",
      "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008",
      "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};
  for (std::size_t before = std::string_view::npos; before != text.size();) {
    before = text.size();
    for (const std::string_view space : kSpaces) {
      if (text.starts_with(space)) text.remove_prefix(space.size());
      if (text.ends_with(space)) text.remove_suffix(space.size());
    }
  }
  return text;
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
    conf.non_isolated_namespaces.emplace_back(trim_unicode(item));
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
  fields.read("allowAnnotationDevices", conf.allow_annotation_devices);
  fields.read("readinessindicatorfile", conf.readiness_indicator_file);
  fields.read("retryDeleteOnError", conf.retry_delete_on_error);
  read_lookup_timeout(fields, conf);
  read_parallel_attach(fields, conf);
  read_check_networks(fields, conf);
  fields.read("logFile", conf.log_file);
  fields.read("logLevel", conf.log_level);
  fields.read("logToStderr", conf.log_to_stderr);
  fields.object("logOptions", [&](const json::Object& options, std::string path) {
    return read_log_options(options, std::move(path), conf.log_options.emplace());
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

// Builds nothing: neither a list that counts nor one that does not.
Result<void> check_delegate_kinds(const json::Object& object) {
  const json::Value* value = object.find_folded("delegates");
  if (value == nullptr || value->is_null()) return {};
  const json::Array* entries = value->as_array();
  if (entries == nullptr) return json::wrong_kind("delegates", "a list", *value);
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const json::Value& entry = (*entries)[i];
    if (entry.as_object() != nullptr) continue;
    return json::wrong_kind(cat("delegates[", i, "]"), "an object", entry);
  }
  return {};
}

Result<void> read_delegates(const json::Object& object, NetConf& conf) {
  if (auto kinds = check_delegate_kinds(object); !kinds) return kinds.error().wrap(kFault);
  if (!conf.cluster_network.empty()) return {};
  const json::Value* value = object.find_folded("delegates");
  const json::Array* entries = value == nullptr ? nullptr : value->as_array();
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

// All keys but `delegates` and the contents of `prevResult`.
Result<NetConf> read_keys(const json::Object& document) {
  NetConf conf;
  MNET_TRY_VOID(check_known_members(document));
  MNET_TRY_VOID(read_members(document, conf));
  return conf;
}

}  // namespace

Result<void> read_log_options(const json::Object& object, std::string path, LogOptions& out) {
  json::Fields fields(object, std::move(path));
  fields.read("maxAge", out.max_age);
  fields.read("maxSize", out.max_size);
  fields.read("maxBackups", out.max_backups);
  fields.read("compress", out.compress);
  return fields.done();
}

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

Result<NetConf> read_netconf(json::Object document, PrevResult prev_result) {
  if (prev_result == PrevResult::kIgnored) document.erase_folded("prevResult");
  auto conf = read_keys(document);
  if (!conf) return std::move(conf).error().wrap(kFault);
  if (prev_result == PrevResult::kRead) {
    MNET_TRY_VOID(read_prev_result(document, *conf));
  }
  MNET_TRY_VOID(read_delegates(document, *conf));
  return conf;
}

NetConf read_netconf_for_del(json::Object document) {
  document.erase_folded("prevResult");
  auto whole = read_keys(document);
  std::optional<Error> fault;
  if (!whole) {
    fault = whole.error().wrap(kFault);
    const auto is_readable = [](const json::Object& member) -> Result<void> {
      MNET_TRY([[maybe_unused]] const auto& conf, read_keys(member));
      return {};
    };
    whole = read_keys(readable_members(document, is_readable));
  }
  NetConf conf = std::move(whole).value_or(NetConf());
  if (auto read = read_delegates(document, conf); !read) {
    conf.delegates.clear();
    if (!fault) fault = std::move(read).error();
  }
  conf.fault = std::move(fault);
  return conf;
}

Result<NetConf> read_settings(const json::Object& document) {
  MNET_TRY_VOID(check_delegate_kinds(document));
  return read_keys(document);
}

json::Object readable_members(const json::Object& document,
                              const std::function<Result<void>(const json::Object&)>& read) {
  json::Object out;
  for (const auto& [key, value] : document) {
    json::Object alone;
    alone.append(key, value);
    if (read(alone)) out.append(key, value);
  }
  return out;
}

}  // namespace mnet::model
