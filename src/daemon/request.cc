#include "daemon/request.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "attach/attach.h"
#include "attach/network_finder.h"
#include "attach/request.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/args.h"
#include "cni/error.h"
#include "daemon/config.h"
#include "json/at.h"
#include "json/json.h"
#include "model/inject.h"
#include "model/netconf.h"
#include "model/pod_args.h"
#include "wire/wire.h"

namespace mnet::daemon {
namespace {

constexpr std::string_view kNotExtracted = "could not extract the CNI command args";

Error unknown_command(std::string_view command) {
  return Error(Errc::kInvalid, cat("unknown cmd type: ", excerpt(command)));
}

Log log_of(const Log& log, const std::string& id, const json::Object& config) {
  Log own = log.with_request(id).with_file(json::text_of(config.find_folded("logFile")));
  const auto level = parse_log_level(json::text_of(config.find_folded("logLevel")));
  return level ? own.with_level(*level) : own;
}

attach::Request begin_request(const CniCall& call, Arrival arrival) {
  attach::Request request;
  request.container_id = call.call.container_id;
  request.netns = call.call.netns;
  request.ifname = call.call.ifname;
  request.path = call.call.path;
  request.pod = call.pod;
  request.id = std::move(arrival.id);
  request.ticket = arrival.ticket;
  request.caller = std::move(arrival.caller);
  request.log = call.log;
  return request;
}

Result<CniCall> begin(std::string_view body) {
  MNET_TRY(auto&& request, wire::parse_request(body));
  MNET_TRY(auto&& extracted, wire::extract_call(request));
  CniCall call;
  call.call = std::move(extracted);
  call.verb = attach::verb_of(call.call.command);
  call.config = std::move(request.config);
  call.attributes = std::move(request.attributes);
  return call;
}

bool has_container(const CniCall& call) { return !call.verb || attach::has_container(*call.verb); }

// The pairs of CNI_ARGS.
Result<cni::ArgPairs> read_pod(CniCall& call, const RequestRules& rules) {
  if (!has_container(call)) return cni::ArgPairs();
  wire::PodRules pod_rules;
  pod_rules.lenient = call.verb == attach::Verb::kDel;
  pod_rules.required = rules.needs_pod;
  MNET_TRY(auto&& pod, wire::pod_identity(call.call.args, pod_rules));
  call.skipped_args = std::move(pod.skipped);
  call.pod = {.ns = std::move(pod.ns),
              .name = std::move(pod.name),
              .uid = std::move(pod.uid),
              .infra_container_id = std::move(pod.infra_container_id)};
  return std::move(pod.pairs);
}

// Why a request's configuration cannot be used as a whole.
std::optional<Error> fault_of(std::string_view text, const Result<json::Object>& parsed) {
  if (!parsed) return parsed.error();
  const auto sized = model::check_netconf_size(text);
  return sized ? std::nullopt : std::optional(sized.error());
}

// A key with the value null is one that is not there.
json::Object without_nulls(const json::Object& document) {
  json::Object out;
  for (const auto& [key, value] : document) {
    if (!value.is_null()) out.append(key, value);
  }
  return out;
}

// The delegate's configuration with the daemon's `cniVersion` where it has none; otherwise byte for
// byte what came.
Result<std::string> with_version(std::string config, const json::Object& server_config) {
  MNET_TRY(auto&& document, wire::parse_config(config));
  const json::Value* version = document.find("cniVersion");
  const bool is_missing = version == nullptr || version->is_null() ||
                          (version->as_string() != nullptr && version->as_string()->empty());
  const std::string fill = json::text_of(server_config.find_folded("cniVersion"));
  if (!is_missing || fill.empty()) return config;
  document.set_folded("cniVersion", fill);
  return json::dump(document);
}

// As it would be posted again, with as much of it as could be read. A DEL does not need a result of
// the whole pod, and a tenant's plugin chooses its size.
std::string pending_body(wire::Call call, const cni::ArgPairs& args, json::Object config) {
  call.args = cni::args_text(args);
  config.erase_folded("prevResult");
  return wire::pending_del_body(call, json::dump(config));
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
  if (const std::string* args = request->find_env("CNI_ARGS")) {
    auto pod = wire::pod_identity(*args, {.lenient = true, .required = false});
    if (pod) seen.ns = std::move(pod->ns);
  }
  return seen;
}

RequestRules::RequestRules(const Config& config)
    : server_config(without_nulls(config.document)),
      settings(attach::read_settings(config.document)),
      drops_readiness_indicator(config.is_automatic()),
      needs_pod(config.objects_dir.empty()) {}

Result<CniCall> read_cni_call(std::string_view body, const RequestRules& rules, Arrival arrival,
                              const Log& log) {
  MNET_TRY(auto&& call, begin(body));
  const bool is_del = call.verb == attach::Verb::kDel;
  auto config = wire::parse_config(call.config);
  if (!config && !is_del) return std::move(config).error().wrap(kNotExtracted);
  std::optional<Error> fault = fault_of(call.config, config);
  // DEL works from the records that the daemon's own configuration leads to.
  json::Object own = fault && is_del ? json::Object() : *std::move(config);
  json::Object merged =
      wire::overlay(std::move(own), rules.server_config, rules.drops_readiness_indicator);
  MNET_TRY(auto&& args, read_pod(call, rules));

  call.log = log_of(log, arrival.id, merged);
  if (!call.verb) {
    call.request = unknown_command(call.call.command);
    return call;
  }
  call.config.clear();
  attach::Request begun = begin_request(call, std::move(arrival));
  if (is_del) begun.pending_body = pending_body(call.call, args, merged);
  call.request = attach::read_request(
      *call.verb, std::move(begun),
      attach::read_conf(*call.verb, std::move(merged), std::move(fault)), std::move(args));
  return call;
}

Result<CniCall> read_delegate_call(std::string_view body, const RequestRules& rules,
                                   Arrival arrival, const Log& log) {
  MNET_TRY(auto&& call, begin(body));
  if (auto checked = attach::check_weight(model::weight_of(call.config)); !checked) {
    return std::move(checked).error().wrap(kNotExtracted);
  }
  auto config = with_version(std::move(call.config), rules.server_config);
  if (!config) return std::move(config).error().wrap(kNotExtracted);
  call.config = *std::move(config);
  MNET_TRY(auto&& args, read_pod(call, rules));

  call.log = log.with_request(arrival.id);
  if (!call.verb || call.verb == attach::Verb::kGc) {
    call.request = unknown_command(call.call.command);
    return call;
  }
  call.request = attach::read_request(*call.verb, begin_request(call, std::move(arrival)),
                                      rules.settings, std::move(args));
  return call;
}

Error request_error(const wire::Call& call, const model::Pod& pod, Error cause) {
  if (call.command == "ADD") {
    cause = std::move(cause).wrap(cat("error configuring pod [", model::shown_name(pod.ns), "/",
                                      model::shown_name(pod.name), "] networking"));
  }
  return std::move(cause).wrap(cat(wire::request_line(call), " ERRORED"));
}

bool is_try_again(const Error& error) {
  const ErrorObject* object = error.origin();
  return object != nullptr && object->code == static_cast<std::uint64_t>(cni::Code::kTryAgainLater);
}

Result<void> check_cni_dir(const attach::Request& request, const std::string& cni_dir) {
  if (request.conf->cni_dir == cni_dir) return {};
  return Error(Errc::kConflict, cat("the daemon's own cniDir is ", request.conf->cni_dir,
                                    ", the record is below ", cni_dir));
}

}  // namespace mnet::daemon
