#include "nodeconf/generate.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "nodeconf/primary.h"

namespace mnet::nodeconf {
namespace {

void add(json::Object& out, const char* key, const std::string& text) {
  if (!text.empty()) out.append(key, text);
}

void add(json::Object& out, const char* key, bool is_on) {
  if (is_on) out.append(key, true);
}

// A `false` of the daemon's own stays unless the primary says otherwise.
json::Object merged(std::map<std::string, bool> ours, const std::map<std::string, bool>& theirs) {
  for (const auto& [name, is_on] : theirs) {
    if (is_on) ours[name] = true;
  }
  json::Object out;
  for (const auto& [name, is_on] : ours) out.append(name, is_on);
  return out;
}

}  // namespace

std::string generate(const Settings& settings, const FromPrimary& from) {
  json::Object out;
  add(out, "binDir", settings.bin_dir);
  json::Object capabilities = merged(settings.capabilities, from.capabilities);
  if (!capabilities.empty()) out.append("capabilities", std::move(capabilities));
  out.append("cniVersion", settings.cni_version);
  add(out, "logFile", settings.log_file);
  add(out, "logLevel", settings.log_level);
  add(out, "logToStderr", settings.log_to_stderr);
  if (settings.log_options) out.append("logOptions", *settings.log_options);
  out.append("name", from.name);
  add(out, "clusterNetwork", from.cluster_network);
  add(out, "namespaceIsolation", settings.namespace_isolation);
  add(out, "globalNamespaces", settings.global_namespaces);
  out.append("type", settings.type);
  add(out, "cniDir", settings.cni_dir);
  add(out, "auxiliaryCNIChainName", settings.auxiliary_chain_name);
  add(out, "daemonSocketDir", settings.daemon_socket_dir);
  add(out, "overrideNetworkName", settings.override_network_name);
  if (settings.shim_timeout) out.append("shimTimeout", *settings.shim_timeout);
  return json::dump(out);
}

Result<Generator::Output> Generator::output(const std::string& path, const Primary& primary) {
  Output output;
  MNET_TRY(auto&& name, name_of(primary, output.warnings));
  Capabilities capabilities = capabilities_of(primary.object);
  for (const std::string& what : capabilities.ignored) {
    output.warnings.push_back(cat(path, ": ", what, "; ignored"));
  }
  if (primary.is_older) {
    output.warnings.push_back(cat(path,
                                  " has a cniVersion below 0.4.0: its results are converted "
                                  "to ",
                                  settings_.cni_version, ", and CHECK skips it"));
  }
  output.text = generate(settings_, {.name = std::move(name),
                                     .cluster_network = path,
                                     .capabilities = std::move(capabilities.values)});
  return output;
}

Result<std::string> Generator::name_of(const Primary& primary, std::vector<std::string>& warnings) {
  if (!settings_.override_network_name) return std::string(kNetworkName);
  auto name = network_name(primary.object);
  if (!name && last_name_.empty()) return name;
  if (name) {
    last_name_ = *std::move(name);
  } else {
    warnings.push_back(cat(name.error().text(), "; the name stays ", last_name_));
  }
  return last_name_;
}

}  // namespace mnet::nodeconf
