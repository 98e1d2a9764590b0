#include "daemon/request.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attach/attach.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/error.h"
#include "json/json.h"
#include "model/pod_args.h"
#include "wire/wire.h"

namespace mnet::daemon {
namespace {

constexpr std::string_view kNotExtracted = "could not extract the CNI command args";

// The pairs of CNI_ARGS without the white space, empty parts and, in a DEL, junk that the core
// would refuse (03-F22).
std::string clean_args(std::string_view args) {
  std::vector<std::string> pairs;
  for (const std::string_view part : split(args, ';')) {
    const std::size_t at = part.find('=');
    if (at == std::string_view::npos) continue;
    pairs.push_back(cat(trim(part.substr(0, at)), "=", trim(part.substr(at + 1))));
  }
  return join(pairs, ";");
}

attach::Request core_request(const wire::Call& call, Arrival arrival) {
  attach::Request request;
  request.container_id = call.container_id;
  request.netns = call.netns;
  request.ifname = call.ifname;
  request.path = call.path;
  request.id = std::move(arrival.id);
  request.ticket = arrival.ticket;
  request.caller = std::move(arrival.caller);
  return request;
}

Result<void> read_pod(CniCall& call, const RequestRules& rules) {
  wire::PodRules pod_rules;
  pod_rules.lenient = call.is("DEL");
  pod_rules.required = rules.needs_pod;
  MNET_TRY(auto&& pod, wire::pod_identity(call.call.args, pod_rules));
  call.skipped_args = std::move(pod.skipped);
  call.request.pod.ns = std::move(pod.ns);
  call.request.pod.name = std::move(pod.name);
  call.request.pod.uid = std::move(pod.uid);
  call.request.pod.infra_container_id = std::move(pod.infra_container_id);
  call.request.args = clean_args(call.call.args);
  return {};
}

// The delegate's configuration with the daemon's `cniVersion` where it has none; otherwise byte for
// byte what came.
Result<std::string> with_version(std::string config, const json::Object* server_config) {
  auto document = json::parse_object(config);
  if (!document) return std::move(document).error().wrap("failed to unmarshall CNI config");
  const json::Value* version = document->find("cniVersion");
  const bool is_missing = version == nullptr || version->is_null() ||
                          (version->as_string() != nullptr && version->as_string()->empty());
  const json::Value* ours =
      server_config == nullptr ? nullptr : server_config->find_folded("cniVersion");
  const std::string* fill = ours == nullptr ? nullptr : ours->as_string();
  if (!is_missing || fill == nullptr || fill->empty()) return config;
  document->set("cniVersion", *fill);
  return json::dump(*document);
}

Result<CniCall> begin(std::string_view body, Arrival arrival, std::string& config) {
  MNET_TRY(auto&& request, wire::parse_request(body));
  MNET_TRY(auto&& extracted, wire::extract_call(request));
  CniCall call;
  call.call = std::move(extracted);
  call.request = core_request(call.call, std::move(arrival));
  call.attributes = std::move(request.attributes);
  config = std::move(request.config);
  return call;
}

std::string text_in(const json::Object& object, std::string_view key) {
  const json::Value* value = object.find_folded(key);
  const std::string* text = value == nullptr ? nullptr : value->as_string();
  return text == nullptr ? std::string() : *text;
}

}  // namespace

Glance glance(std::string_view body) {
  Glance seen;
  const auto request = wire::parse_request(body);
  if (!request) return seen;
  const std::string* command = request->find_env("CNI_COMMAND");
  seen.is_del = command != nullptr && *command == "DEL";
  const std::string* container_id = request->find_env("CNI_CONTAINERID");
  if (container_id != nullptr) seen.container_id = *container_id;
  return seen;
}

Result<CniCall> read_cni_call(std::string_view body, const RequestRules& rules, Arrival arrival) {
  std::string config;
  MNET_TRY(auto&& call, begin(body, std::move(arrival), config));
  auto merged = wire::overlay(config, rules.server_config, rules.drops_readiness_indicator);
  if (!merged) return std::move(merged).error().wrap(kNotExtracted);
  call.request.config = *std::move(merged);
  call.facts = facts_of(call.request.config);
  if (!call.has_container()) return call;
  MNET_TRY_VOID(read_pod(call, rules));
  return call;
}

Result<CniCall> read_delegate_call(std::string_view body, const RequestRules& rules,
                                   Arrival arrival) {
  std::string config;
  MNET_TRY(auto&& call, begin(body, std::move(arrival), config));
  auto filled = with_version(std::move(config), rules.server_config);
  if (!filled) return std::move(filled).error().wrap(kNotExtracted);
  call.request.config = *std::move(filled);
  if (!call.has_container()) return call;
  MNET_TRY_VOID(read_pod(call, rules));
  return call;
}

Error request_error(const wire::Call& call, const model::Pod& pod, Error cause) {
  if (call.command == "ADD") {
    cause = std::move(cause).wrap(
        cat("error configuring pod [", pod.ns, "/", pod.name, "] networking"));
  }
  return std::move(cause).wrap(cat(wire::request_line(call), " ERRORED"));
}

bool is_try_again(const Error& error) {
  const ErrorObject* object = error.origin();
  return object != nullptr && object->code == static_cast<std::uint64_t>(cni::Code::kTryAgainLater);
}

ConfigFacts facts_of(std::string_view config) {
  ConfigFacts facts;
  if (const auto document = json::parse_object(config)) {
    facts.cni_dir = text_in(*document, "cniDir");
    facts.log_file = text_in(*document, "logFile");
    facts.log_level = text_in(*document, "logLevel");
  }
  if (facts.cni_dir.empty()) facts.cni_dir = wire::kDefaultCniDir;
  return facts;
}

}  // namespace mnet::daemon
