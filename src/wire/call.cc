#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "wire/wire.h"

namespace mnet::wire {
namespace {

// The runtime's own words: only the pod's names in them are foreign, and those have a limit.
constexpr std::size_t kMostOfValue = 1u << 10;

std::string value_or_empty(const Request& request, std::string_view name) {
  const std::string* value = request.find_env(name);
  return value == nullptr ? std::string() : *value;
}

Error not_extracted(std::string_view why) {
  return Error(Errc::kInvalid, cat("could not extract the CNI command args: ", why));
}

Error no_pod(std::string_view why) {
  return Error(Errc::kInvalid, cat("could not extract the kubernetes runtime args: ", why));
}

struct Found {
  std::optional<std::string> ns, name, uid, infra_container_id;

  std::optional<std::string>* slot(std::string_view key) {
    if (key == "K8S_POD_NAMESPACE") return &ns;
    if (key == "K8S_POD_NAME") return &name;
    if (key == "K8S_POD_UID") return &uid;
    if (key == "K8S_POD_INFRA_CONTAINER_ID") return &infra_container_id;
    return nullptr;
  }
};

Result<void> check_required(const Found& found) {
  if (!found.ns) return no_pod("missing K8S_POD_NAMESPACE");
  if (!found.name) return no_pod("missing K8S_POD_NAME");
  if (found.ns->empty() || found.name->empty()) {
    return Error(Errc::kInvalid,
                 cat("required CNI variable missing. pod name: ", excerpt(*found.name),
                     "; pod namespace: ", excerpt(*found.ns)));
  }
  return {};
}

}  // namespace

Result<Call> extract_call(const Request& request) {
  const std::string* command = request.find_env("CNI_COMMAND");
  if (command == nullptr) return not_extracted("unexpected or missing CNI_COMMAND");
  Call call;
  call.command = *command;
  call.path = value_or_empty(request, "CNI_PATH");
  if (*command == "STATUS" || *command == "GC") return call;  // they are about no container

  const std::string* container_id = request.find_env("CNI_CONTAINERID");
  if (container_id == nullptr) return not_extracted("missing CNI_CONTAINERID");
  call.container_id = *container_id;
  const std::string* netns = request.find_env("CNI_NETNS");
  // A DEL whose namespace is long gone must still be served (03-F23).
  if (netns == nullptr && *command != "DEL") return not_extracted("missing CNI_NETNS");
  if (netns != nullptr) call.netns = *netns;
  const std::string* ifname = request.find_env("CNI_IFNAME");
  call.ifname = ifname == nullptr ? "eth0" : *ifname;
  const std::string* args = request.find_env("CNI_ARGS");
  if (args == nullptr) return not_extracted("missing CNI_ARGS");
  call.args = *args;
  return call;
}

Result<PodIdentity> pod_identity(std::string_view args, PodRules rules) {
  PodIdentity pod;
  Found found;
  for (const std::string_view part : split(args, ';')) {
    if (trim(part).empty()) continue;
    const std::size_t at = part.find('=');
    if (at == std::string_view::npos) {
      if (!rules.lenient) return no_pod(cat("invalid CNI_ARG '", excerpt(part), "'"));
      pod.skipped.emplace_back(part);
      continue;
    }
    const std::string_view key = trim(part.substr(0, at));
    const std::string_view value = trim(part.substr(at + 1));
    if (auto* slot = found.slot(key)) *slot = value;
    pod.pairs.emplace_back(key, value);
  }
  if (rules.required) {
    MNET_TRY_VOID(check_required(found));
  }
  pod.ns = std::move(found.ns).value_or("");
  pod.name = std::move(found.name).value_or("");
  pod.uid = std::move(found.uid).value_or("");
  pod.infra_container_id = std::move(found.infra_container_id).value_or("");
  return pod;
}

Error missing_pod_uid(const Error& why) {
  return no_pod(
      cat("missing pod UID; attempted to recover it from the K8s API, but failed: ", why.text()));
}

std::string request_line(const Call& call) {
  return cat("ContainerID:", go_quoted(call.container_id),
             " Netns:", go_quoted(call.netns, kMostOfValue), " IfName:", go_quoted(call.ifname),
             " Args:", go_quoted(call.args, kMostOfValue),
             " Path:", go_quoted(call.path, kMostOfValue));
}

std::string pending_del_body(const Call& call, const std::string& config) {
  Request body;
  body.env = {{"CNI_COMMAND", "DEL"},    {"CNI_CONTAINERID", call.container_id},
              {"CNI_NETNS", call.netns}, {"CNI_IFNAME", call.ifname},
              {"CNI_ARGS", call.args},   {"CNI_PATH", call.path}};
  body.config = config;
  return to_text(body);
}

}  // namespace mnet::wire
