#include "attach/core.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attach/attach.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/caller.h"
#include "chain/chain.h"
#include "cni/error.h"
#include "cni/names.h"
#include "model/messages.h"
#include "model/netconf.h"
#include "model/pod_args.h"

namespace mnet::attach {
namespace {

bool has_container(Verb verb) { return verb != Verb::kStatus && verb != Verb::kGc; }

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

void fill_if_empty(std::string& text, const std::string& from) {
  if (text.empty()) text = from;
}

Result<model::PodArgs> read_args(const Request& request, Verb verb) {
  if (!has_container(verb)) return model::PodArgs();
  if (verb == Verb::kDel) return model::lenient_pod_args(request.args);
  return model::parse_pod_args(request.args);
}

Log log_of(const Request& request, const model::NetConf& conf, const Log& log) {
  Log own = request.id.empty() ? log : log.with_request(request.id);
  // A request's file and level count for its own lines and no others (02-F48).
  own = own.with_file(conf.log_file);
  const auto level = parse_log_level(conf.log_level);
  return level ? own.with_level(*level) : own;
}

std::vector<std::string> search_dirs(const Job& job) {
  std::vector<std::string> dirs = {job.conf.bin_dir};
  for (const std::string_view dir : split(job.request.path, ':')) {
    if (!dir.empty()) dirs.emplace_back(dir);
  }
  return dirs;
}

}  // namespace

std::string Job::log_identity() const {
  // The UID is the pod object's, which is not looked up to take networks down.
  return cat(pod.ns, ":", pod.name, ":unknownUID");
}

Result<Job> read_job(Request request, Verb verb, const Log& log) {
  model::LoadRules rules;
  rules.check_prev_result = verb == Verb::kAdd || verb == Verb::kCheck;
  rules.check_delegates = verb != Verb::kDel;
  return read_job(std::move(request), verb, rules, log);
}

Result<Job> read_job(Request request, Verb verb, model::LoadRules rules, const Log& log) {
  Job job;
  job.verb = verb;
  job.pod = request.pod;
  if (has_container(verb)) {
    if (auto valid = check_identifiers(request); !valid) {
      return model::core_error(std::move(valid).error(), job.pod);
    }
  }
  auto conf = model::load_netconf(request.config, rules);
  if (!conf) return model::core_error(std::move(conf).error(), job.pod, "error loading netconf");
  auto args = read_args(request, verb);
  if (!args) return model::core_error(std::move(args).error(), job.pod, "error getting k8s args");

  fill_if_empty(job.pod.ns, args->pod.ns);
  fill_if_empty(job.pod.name, args->pod.name);
  fill_if_empty(job.pod.uid, args->pod.uid);
  fill_if_empty(job.pod.infra_container_id, args->pod.infra_container_id);
  job.args = model::delegate_args(job.pod, args->pairs);
  job.log = log_of(request, *conf, log);
  job.conf = *std::move(conf);
  job.request = std::move(request);
  if (job.request.caller == nullptr) job.request.caller = std::make_shared<chain::Caller>();
  return job;
}

chain::Chain chain_of(const Core& core, const Job& job,
                      const std::shared_ptr<chain::Caller>& caller) {
  chain::Chain::Setting setting;
  setting.dirs = search_dirs(job);
  setting.cni_dir = job.conf.cni_dir;
  setting.request_id = job.request.id;
  setting.ticket = job.request.ticket;
  setting.caller = caller == nullptr ? job.request.caller : caller;
  setting.starts_early = job.conf.parallel_attach != model::ParallelAttach::kOff;
  setting.own_type = job.conf.type;
  return chain::Chain(core.ports.plugins, core.ports.results, std::move(setting), job.log);
}

}  // namespace mnet::attach
