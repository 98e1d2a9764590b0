#include "attach/dynamic.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/attach.h"
#include "attach/core.h"
#include "attach/recorded_attachments.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/chain.h"
#include "cni/names.h"
#include "cni/result.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/inject.h"
#include "model/messages.h"
#include "model/network_status.h"
#include "model/pod_args.h"
#include "model/status_edit.h"

namespace mnet::attach {
namespace {

// As the client wrote them; what is empty is no wish.
json::Object attributes_of(const DynamicRequest& request) {
  json::Object attributes;
  if (!request.ips.empty()) attributes.append("ips", request.ips);
  if (!request.mac.empty()) attributes.append("mac", request.mac);
  if (request.cni_args) attributes.append("cni-args", *request.cni_args);
  return attributes;
}

// Names under which an attachment stands in the network status: an empty one if its result lists no
// interface (02, 2.4).
std::vector<std::string> status_names_of(const model::RecordedAttachment& attachment) {
  std::vector<std::string> names = interfaces_of(attachment);
  auto result = cni::read_result(attachment.result.value_or(json::Object()));
  if (result && result->interfaces.empty()) names.emplace_back();
  return names;
}

std::string unfilled_hash(const model::Delegate& delegate, const std::string& config,
                          const std::string& settings_version) {
  json::Object object = json::parse_object(config).value_or(json::Object());
  const json::Value* version = object.find("cniVersion");
  if (version == nullptr || *version != json::Value(settings_version)) return delegate.config_hash;
  object.erase("cniVersion");
  return model::config_hash(object);
}

// The name of its interface is wished, too: there is no list that it could have a place in.
Result<model::Delegate> read_delegate(const DynamicRequest& request, Verb verb) {
  MNET_TRY(auto&& delegate, model::parse_delegate(request.request.config));
  if (verb != Verb::kStatus) {
    MNET_TRY_VOID(cni::validate_network_name(delegate.cni_name));
  }
  delegate.source = model::Source::kDelegateApi;
  delegate.config_hash =
      model::config_hash(json::parse_object(request.request.config).value_or(json::Object()));
  delegate.selection.ifname = request.request.ifname;
  if (verb != Verb::kAdd) return delegate;
  delegate.attributes = attributes_of(request);
  if (!request.ips.empty()) delegate.selection.ips = request.ips;
  delegate.selection.mac = request.mac;
  return model::with_injection(std::move(delegate),
                               {.device_id = {}, .cni_args = request.cni_args});
}

}  // namespace

Result<DynamicJob> read_dynamic_job(DynamicRequest request, Verb verb, const Log& log) {
  auto delegate = read_delegate(request, verb);
  const std::string config = request.request.config;
  Request base = std::move(request.request);
  base.config = std::move(request.settings);
  // Which networks the settings name is nobody's business here.
  MNET_TRY(auto&& job, read_job(std::move(base), verb,
                                {.check_prev_result = false, .check_delegates = false}, log));
  if (!delegate) {
    return model::core_error(std::move(delegate).error(), job.pod, "failed getting the delegate");
  }
  // DEL works from the record; of what nobody knows it runs what may be run.
  if (verb != Verb::kDel) {
    auto checked = model::check_types(*delegate, job.conf.type);
    if (!checked) {
      return model::core_error(std::move(checked).error().wrap(cat("network ", delegate->cni_name)),
                               job.pod, "failed getting the delegate");
    }
  }
  // The runtime's own arguments were for the networks of its ADD (02, 5.9).
  job.conf.runtime_config.reset();
  // Clients do not send it (05, R9).
  if (job.pod.infra_container_id.empty()) {
    job.pod.infra_container_id = job.request.container_id;
  }
  job.args = model::delegate_args(job.pod, job.args);
  std::string unfilled = unfilled_hash(*delegate, config, job.conf.cni_version);
  return DynamicJob{std::move(job), *std::move(delegate), std::move(unfilled)};
}

Dynamic::Dynamic(Core& core, DynamicJob what)
    : core_(core),
      job_(std::move(what.job)),
      delegate_(std::move(what.delegate)),
      unfilled_hash_(std::move(what.unfilled_hash)),
      access_(core_, job_) {}

Error Dynamic::failed(const Error& error) const { return model::core_error(error, job_.pod); }

aio::Task<void> Dynamic::find_pod() {
  ObjectSource* source = core_.ports.source;
  if (source == nullptr || !job_.pod.named()) co_return Result<void>();
  auto pod = co_await source->find_pod({.ns = job_.pod.ns,
                                        .name = job_.pod.name,
                                        .uid = job_.pod.uid,
                                        .wait = job_.conf.pod_lookup_timeout});
  if (!pod) co_return failed(std::move(pod).error());
  if (*pod == nullptr && source->is_complete()) {
    co_return failed(Error(Errc::kNotFound, "pod not found during Multus GetPod"));
  }
  pod_ = *std::move(pod);
  if (pod_ != nullptr && job_.pod.uid.empty()) {
    job_.pod.uid = pod_->uid;
    job_.args = model::delegate_args(job_.pod, job_.args);
  }
  co_return Result<void>();
}

aio::Task<void> Dynamic::load() {
  auto loaded = co_await access_.load();
  if (!loaded) co_return failed(std::move(loaded).error());
  record_ = *std::move(loaded);
  attachment_record_ = attachment_record_of(job_, record_, pod_.get());
  if (!record_.attachment_record) attachment_record_.boot_id = core_.options.boot_id;
  co_return Result<void>();
}

void Dynamic::drop() {
  std::erase_if(attachment_record_.attachments,
                [&](const model::RecordedAttachment& one) { return one.ifname == ifname(); });
}

bool Dynamic::keeps_status() const {
  return pod_ != nullptr && !core_.ports.source->clients_keep_status();
}

aio::Task<void> Dynamic::add_status(cni::NetResult result) {
  if (!keeps_status()) co_return Result<void>();
  MNET_CO_TRY(auto&& added, model::network_statuses(result, delegate_.name, false, std::nullopt));
  if (added.empty()) co_return Result<void>();
  MNET_CO_TRY(auto&& present, co_await core_.ports.source->find_status(pod_));
  MNET_CO_TRY(auto&& text, model::with_statuses(present, added));
  co_return co_await core_.ports.source->write_status(pod_, std::move(text));
}

aio::Task<void> Dynamic::drop_status(model::RecordedAttachment removed) {
  if (!keeps_status()) co_return Result<void>();
  MNET_CO_TRY(auto&& present, co_await core_.ports.source->find_status(pod_));
  if (!present) co_return Result<void>();
  MNET_CO_TRY(auto&& text,
              model::without_statuses(*present, removed.network, status_names_of(removed)));
  if (!text) co_return Result<void>();
  co_return co_await core_.ports.source->write_status(pod_, *std::move(text));
}

void Dynamic::note_status(const Result<void>& kept) const {
  if (!kept) job_.log.error("error setting the networks status", kept.error());
}

aio::Task<void> Dynamic::status() {
  chain::Chain chain = chain_of(core_, job_);
  co_return co_await chain.status(std::make_shared<const model::Delegate>(delegate_));
}

}  // namespace mnet::attach
