#include "hotplug/job.h"

#include <memory>
#include <string>
#include <utility>

#include "attach/core.h"
#include "attach/network_finder.h"
#include "attach/request.h"
#include "attach/room.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/names.h"
#include "hotplug/hotplug.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/inject.h"
#include "model/messages.h"
#include "model/pod_args.h"

namespace mnet::hotplug {
namespace {

using attach::Verb;

// As the client wrote them, empty ones left out.
json::Object attributes_of(const Request& request) {
  json::Object attributes;
  if (!request.ips.empty()) attributes.append("ips", request.ips);
  if (!request.mac.empty()) attributes.append("mac", request.mac);
  if (request.cni_args) attributes.append("cni-args", *request.cni_args);
  return attributes;
}

std::string unfilled_hash(const model::Delegate& delegate, const std::string& config,
                          const std::string& settings_version) {
  json::Object object = json::parse_object(config).value_or(json::Object());
  const json::Value* version = object.find("cniVersion");
  if (version == nullptr || *version != json::Value(settings_version)) return delegate.config_hash;
  object.erase("cniVersion");
  return model::config_hash(object);
}

// The interface name is a requested attribute, too: the delegate has no place in a list.
Result<model::Delegate> read_delegate(const Request& request, Verb verb) {
  MNET_TRY(auto&& delegate, model::parse_delegate(request.config));
  if (verb != Verb::kStatus) {
    MNET_TRY_VOID(cni::validate_network_name(delegate.cni_name));
  }
  delegate.source = model::Source::kDelegateApi;
  delegate.config_hash =
      model::config_hash(json::parse_object(request.config).value_or(json::Object()));
  delegate.selection.ifname = request.request.ifname;
  if (verb != Verb::kAdd) return delegate;
  delegate.attributes = attributes_of(request);
  if (!request.ips.empty()) delegate.selection.ips = request.ips;
  delegate.selection.mac = request.mac;
  if (request.cni_args) {
    MNET_TRY_VOID(attach::check_weight(model::weight_of(*request.cni_args, delegate)));
  }
  return model::with_injection(std::move(delegate),
                               {.device_id = {}, .cni_args = request.cni_args});
}

}  // namespace

Result<Job> read_job(Request request, Verb verb, std::shared_ptr<attach::HeldRoom> room) {
  auto delegate = read_delegate(request, verb);
  attach::Job job(std::move(request.request), verb);
  job.room = std::move(room);
  if (!delegate) {
    return model::core_error(std::move(delegate).error(), job.pod, "failed getting the delegate");
  }
  // DEL works from the record; for an unrecorded network it runs the plugins that it is allowed to
  // run.
  if (verb != Verb::kDel) {
    auto checked = model::check_types(*delegate, job.conf.type);
    if (checked) checked = model::check_allowed_types(*delegate, job.conf.allowed_plugin_types);
    if (!checked) {
      return model::core_error(
          std::move(checked).error().wrap(cat("network ", excerpt(delegate->cni_name))), job.pod,
          "failed getting the delegate");
    }
  }
  // Clients do not send it (05, R9).
  if (job.pod.infra_container_id.empty()) {
    job.pod.infra_container_id = job.request.container_id;
  }
  job.args = model::delegate_args(job.pod, job.args);
  std::string unfilled = unfilled_hash(*delegate, request.config, job.conf.cni_version);
  return Job{std::move(job), *std::move(delegate), std::move(unfilled)};
}

}  // namespace mnet::hotplug
