#include "hotplug/container.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "attach/core.h"
#include "attach/plan.h"
#include "attach/ports.h"
#include "attach/recorded_attachments.h"
#include "attach/remove.h"
#include "attach/room.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/chain.h"
#include "cni/result.h"
#include "json/json.h"
#include "model/attachment.h"
#include "model/attachment_record.h"
#include "model/messages.h"
#include "model/pod_args.h"
#include "model/requested_networks.h"

namespace mnet::hotplug {

bool is_no_namespace(const Error& error) {
  return error.code() == Errc::kNotFound || error.code() == Errc::kInvalid;
}

model::StaleStatus status_of(const model::RecordedAttachment& attachment) {
  model::StaleStatus status{.network = attachment.network,
                            .ifnames = attach::interfaces_of(attachment)};
  auto result = cni::read_result(attachment.result.value_or(json::Object()));
  if (result && result->interfaces.empty()) status.ifnames.emplace_back();
  return status;
}

Error Container::failed(const Error& error) const { return model::core_error(error, job.base.pod); }

Error Container::not_saved(Error error) const {
  return failed(std::move(error).wrap("error saving the delegates"));
}

aio::Task<void> Container::find() {
  attach::ObjectSource* source = core.ports.source;
  model::Pod& named = job.base.pod;
  if (source != nullptr && named.named()) {
    attach::PodLookup lookup{.ns = named.ns,
                             .name = named.name,
                             .uid = named.uid,
                             .wait = job.base.conf.pod_lookup_timeout,
                             .may_be_cut = true};
    auto found = co_await source->find_pod(lookup);
    if (found && *found != nullptr && (*found)->is_cut) {
      lookup.may_be_cut = false;
      found = co_await read_whole(std::move(lookup));
    }
    if (!found) co_return failed(std::move(found).error());
    if (*found == nullptr && source->is_complete()) {
      co_return failed(Error(Errc::kNotFound, "pod not found during Multus GetPod"));
    }
    pod = *std::move(found);
  }
  if (pod != nullptr && named.uid.empty()) {
    named.uid = pod->uid;
    job.base.args = model::delegate_args(named, job.base.args);
  }
  co_return co_await load();
}

// The weight of its annotation is only known by then.
aio::Task<model::PodObjectPtr> Container::read_whole(attach::PodLookup lookup) {
  const std::size_t held = job.base.room->weight();
  MNET_CO_TRY_VOID(co_await job.base.take_room(core.ports.room, attach::kLargestWeight));
  MNET_CO_TRY(auto&& whole, co_await core.ports.source->find_pod(std::move(lookup)));
  MNET_CO_TRY(const std::size_t files, co_await access.weigh());
  const std::size_t texts = whole == nullptr ? 0 : model::annotation_weight(*whole).total();
  job.base.room->keep(std::max(held, texts + files));
  has_newest_pod = true;
  co_return std::move(whole);
}

aio::Task<bool> Container::take_newest_pod() {
  if (has_newest_pod) co_return false;
  MNET_CO_TRY(
      auto&& newest,
      co_await core.ports.source->find_pod(
          {.ns = pod->ns, .name = pod->name, .uid = pod->uid, .may_be_cut = true, .newest = true}));
  has_newest_pod = true;
  // A large one is read again where there is room for it, once it is known here.
  if (newest != nullptr && newest->is_cut) {
    co_return Error(Errc::kUnavailable, "its annotations have just changed");
  }
  const bool is_other = newest == nullptr || *newest != *pod;
  pod = std::move(newest);
  co_return is_other;
}

aio::Task<void> Container::load() {
  auto loaded = co_await access.load();
  if (!loaded) co_return failed(std::move(loaded).error());
  records = *std::move(loaded);
  std::set<std::string> selected;
  if (pod != nullptr && attach::lists_unrecorded(records)) {
    auto named = co_await named_networks();
    if (!named) {
      co_return failed(
          std::move(named).error().wrap("cannot tell which networks the pod asked for"));
    }
    selected = *std::move(named);
  }
  record = attach::attachment_record_of(job.base, records, pod.get(), selected);
  if (!records.attachment_record) record.boot_id = core.options.boot_id;
  co_return Result<void>();
}

aio::Task<std::set<std::string>> Container::named_networks() {
  if (core.ports.pool == nullptr || !model::has_long_annotation(*pod)) {
    co_return model::named_networks(*pod);
  }
  co_return co_await core.ports.pool->run([pod = pod] { return model::named_networks(*pod); });
}

aio::Task<void> Container::check() {
  MNET_CO_TRY_VOID(co_await load());
  const model::RecordedAttachment* there = recorded();
  if (there != nullptr && there->cni_name != job.delegate.cni_name) there = nullptr;
  const model::AttachmentPtr attachment =
      there != nullptr ? attach::attachment_of(job.base, record, *there, true)
                       : std::make_shared<const model::Attachment>(
                             attach::plan_again(job.base, job.delegate, ifname(), true));
  if (there != nullptr && there->result) co_await access.restore_result(attachment, *there->result);
  chain::Chain chain = attach::chain_of(core, job.base);
  auto checked = co_await chain.check(attachment);
  if (!checked) {
    co_return model::core_error(std::move(checked).error(), job.base.pod,
                                cat("error checking network ", go_quoted(job.delegate.cni_name)));
  }
  co_return Result<void>();
}

std::set<std::string> Container::reconstructed() const {
  std::set<std::string> names;
  for (const model::RecordedAttachment& one : record.attachments) {
    const auto& kept = records.attachment_record;
    if (!kept || kept->find(one.ifname) == nullptr) names.insert(one.ifname);
  }
  return names;
}

void Container::drop() {
  std::erase_if(record.attachments,
                [&](const model::RecordedAttachment& one) { return one.ifname == ifname(); });
}

aio::Task<void> Container::save() {
  const bool is_empty = record.attachments.empty() && !records.has_file;
  return is_empty ? access.remove() : access.save_record(record);
}

aio::Task<void> Container::take_down(model::AttachmentPtr attachment) {
  attach::Remover remover(core, job.base);
  attach::Removal removal = co_await remover.remove({std::move(attachment)});
  co_return removal.complete();
}

aio::asio::awaitable<std::uint64_t> Container::find_link() {
  attach::LinkNames* names = core.ports.link_names;
  if (!core.options.has_hotplug || names == nullptr) co_return 0;
  const auto links = co_await names->list(job.base.request.netns);
  if (!links) co_return 0;
  const auto found = std::ranges::find(*links, ifname(), &attach::Link::name);
  co_return found == links->end() ? 0 : found->index;
}

bool Container::keeps_status() const {
  return !job.is_by_annotation && pod != nullptr && !core.ports.source->clients_keep_status();
}

void Container::note_status(const Result<void>& kept) const {
  if (!kept) job.base.log.error("error setting the networks status", kept.error());
}

}  // namespace mnet::hotplug
