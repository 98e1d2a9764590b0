#include "attach/request.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "attach/attach.h"
#include "base/error.h"
#include "base/result.h"
#include "base/try.h"
#include "chain/caller.h"
#include "cni/args.h"
#include "cni/error.h"
#include "cni/names.h"
#include "json/json.h"
#include "model/messages.h"
#include "model/netconf.h"
#include "model/pod_args.h"

namespace mnet::attach {
namespace {

// Directories of ours in cniDir, where a container id is a file name (02, 0.3; 05, 3.2).
bool is_reserved(std::string_view id) {
  return id == "results" || id == "pending-del" || id == "_attachments";
}

Result<void> check_identifiers(const Request& request) {
  if (is_reserved(request.container_id)) {
    return cni::coded(cni::Code::kInvalidEnvironment, "reserved containerID", request.container_id);
  }
  MNET_TRY_VOID(cni::validate_container_id(request.container_id));
  return cni::validate_ifname(request.ifname);
}

void fill_if_empty(std::string& text, std::string from) {
  if (text.empty()) text = std::move(from);
}

Result<model::PodArgs> read_args(Verb verb, Result<cni::ArgPairs> pairs) {
  if (!has_container(verb)) return model::PodArgs();
  MNET_TRY(auto&& given, std::move(pairs));
  if (verb == Verb::kDel) return model::read_pod_args_leniently(std::move(given));
  return model::read_pod_args(std::move(given));
}

}  // namespace

std::optional<Verb> verb_of(std::string_view command) {
  if (command == "ADD") return Verb::kAdd;
  if (command == "DEL") return Verb::kDel;
  if (command == "CHECK") return Verb::kCheck;
  if (command == "STATUS") return Verb::kStatus;
  if (command == "GC") return Verb::kGc;
  return std::nullopt;
}

bool has_container(Verb verb) { return verb != Verb::kStatus && verb != Verb::kGc; }

Result<NetConfPtr> read_conf(Verb verb, json::Object document, std::optional<Error> fault) {
  if (verb == Verb::kDel) {
    model::NetConf conf = model::read_netconf_for_del(std::move(document));
    if (fault) conf.fault = std::move(fault);
    return std::make_shared<const model::NetConf>(std::move(conf));
  }
  if (fault) return *std::move(fault);
  const bool counts = verb == Verb::kAdd || verb == Verb::kCheck;
  MNET_TRY(auto&& conf,
           model::read_netconf(std::move(document),
                               counts ? model::PrevResult::kRead : model::PrevResult::kIgnored));
  return std::make_shared<const model::NetConf>(std::move(conf));
}

Result<NetConfPtr> read_settings(const json::Object& document) {
  MNET_TRY(auto&& conf, model::read_settings(document));
  conf.runtime_config.reset();
  return std::make_shared<const model::NetConf>(std::move(conf));
}

Result<cni::ArgPairs> parse_args(Verb verb, std::string_view text) {
  if (verb == Verb::kDel) return cni::parse_args_leniently(text);
  return cni::parse_args(text);
}

Result<Request> read_request(Verb verb, Request begun, Result<NetConfPtr> conf,
                             Result<cni::ArgPairs> args) {
  model::Pod& pod = begun.pod;
  if (has_container(verb)) {
    if (auto valid = check_identifiers(begun); !valid) {
      return model::core_error(std::move(valid).error(), pod);
    }
  }
  if (!conf) return model::core_error(std::move(conf).error(), pod, "error loading netconf");
  auto read = read_args(verb, std::move(args));
  if (!read) return model::core_error(std::move(read).error(), pod, "error getting k8s args");

  fill_if_empty(pod.ns, std::move(read->pod.ns));
  fill_if_empty(pod.name, std::move(read->pod.name));
  fill_if_empty(pod.uid, std::move(read->pod.uid));
  fill_if_empty(pod.infra_container_id, std::move(read->pod.infra_container_id));
  begun.args = model::delegate_args(pod, read->pairs);
  begun.conf = *std::move(conf);
  if (begun.caller == nullptr) begun.caller = std::make_shared<chain::Caller>();
  return begun;
}

}  // namespace mnet::attach
