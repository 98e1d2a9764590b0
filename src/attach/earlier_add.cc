#include "attach/earlier_add.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/add_report.h"
#include "attach/container_records.h"
#include "attach/ports.h"
#include "attach/recorded_attachments.h"
#include "attach/remove.h"
#include "base/error.h"
#include "base/reading.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/cache.h"
#include "cni/error.h"
#include "cni/result.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/messages.h"
#include "model/network_status.h"

namespace mnet::attach {
namespace {

// Names of the links that a result says are in the pod. A result of an old version lists none: then
// it is the one that was asked for.
Result<std::vector<std::string>> links_of(const json::Value& document, const std::string& ifname) {
  MNET_TRY(auto&& result, cni::read_result(document));
  std::vector<std::string> names;
  for (const cni::Interface& interface : result.interfaces) {
    if (!interface.sandbox.empty()) names.push_back(interface.name);
  }
  if (result.interfaces.empty() && result.has_content()) names.push_back(ifname);
  return names;
}

// The entry of each delegate of the list; none if the record is incomplete.
std::optional<std::vector<cni::CacheEntry>> listed_entries(const ContainerRecords& record,
                                                           const std::string& master) {
  if (!record.delegates) return std::nullopt;
  std::vector<cni::CacheEntry> listed;
  for (std::size_t i = 0; i < record.delegates->size(); ++i) {
    const model::Delegate& delegate = (*record.delegates)[i];
    const cni::CacheEntry* entry =
        record.find_entry(delegate.cni_name, model::interface_name(delegate, i, master));
    if (delegate.removed || entry == nullptr || !entry->result) return std::nullopt;
    listed.push_back(*entry);
  }
  return listed;
}

// All links that they say are in the pod; none if one of them cannot be read.
std::optional<std::vector<std::string>> links_of(const std::vector<cni::CacheEntry>& entries) {
  std::vector<std::string> all;
  for (const cni::CacheEntry& entry : entries) {
    auto names = links_of(*entry.result, entry.ifname);
    if (!names) return std::nullopt;
    all.insert(all.end(), names->begin(), names->end());
  }
  return all;
}

Error undecided(const Error& why) {
  return cni::coded(cni::Code::kTryAgainLater,
                    cat("cannot tell whether an earlier ADD is still in effect: ", why.text(),
                        "; nothing was changed, try again later"));
}

// As far as the result cache knows: it has only the path.
bool is_of_path(const std::vector<cni::CacheEntry>& entries, const std::string& netns) {
  return std::ranges::all_of(entries,
                             [&](const cni::CacheEntry& entry) { return entry.netns == netns; });
}

}  // namespace

// Complete, of this very namespace, with all its links. A record that was not finished is not
// complete: routes and status may be missing (05, 3.11).
aio::Task<bool> EarlierAdd::still_stands(ContainerRecords record) {
  const std::optional<model::AttachmentRecord>& attachment_record = record.attachment_record;
  if (attachment_record && attachment_record->state != model::RecordState::kReady) co_return false;
  const bool knows_boot =
      attachment_record && !attachment_record->boot_id.empty() && !core_.options.boot_id.empty();
  if (knows_boot && attachment_record->boot_id != core_.options.boot_id) co_return false;
  const auto entries = listed_entries(record, record.master_ifname(job_.request.ifname));
  const auto names = entries ? links_of(*entries) : std::nullopt;
  if (!names) co_return false;
  auto seen = co_await core_.ports.links.look(job_.request.netns, *names);
  if (!seen && seen.error().code() != Errc::kNotFound) co_return std::move(seen).error();
  if (!seen || seen->taken.size() != names->size()) co_return false;
  if (attachment_record && attachment_record->netns_inode != 0)
    co_return seen->netns.inode == attachment_record->netns_inode;
  co_return is_of_path(*entries, job_.request.netns);
}

aio::Task<std::optional<cni::NetResult>> EarlierAdd::settle() {
  auto stored = co_await access_.load_files(RecordParts::kOfEarlierAdd);
  if (stored && stored->scratch && !*stored->scratch) {
    // A leftover record is overwritten (05, 3.2), but not one about which nothing is known.
    const auto& left = stored->record;
    if (left || is_damage(left.error())) co_return std::optional<cni::NetResult>();
    co_return model::core_error(undecided(left.error()), job_.pod);
  }

  auto loaded = access_.read(std::move(stored));
  if (!loaded) co_return model::core_error(std::move(loaded).error(), job_.pod);
  const ContainerRecords record = *std::move(loaded);
  auto stands = co_await still_stands(record);
  // It is not known whether the earlier ADD stands. The pod may be running: nothing is touched.
  if (!stands) co_return model::core_error(undecided(stands.error()), job_.pod);
  if (!*stands) {
    MNET_CO_TRY_VOID(co_await clear_away(record));
    co_return std::optional<cni::NetResult>();
  }
  auto result = co_await answer(record);
  if (!result) co_return model::core_error(std::move(result).error(), job_.pod);
  MNET_CO_TRY_VOID(co_await report(record));
  co_return std::optional<cni::NetResult>(*std::move(result));
}

aio::Task<cni::NetResult> EarlierAdd::answer(ContainerRecords record) {
  const std::string master = record.master_ifname(job_.request.ifname);
  if (master != model::interface_name(record.delegates->front(), 0, job_.request.ifname)) {
    co_return cni::coded(cni::Code::kTryAgainLater, cat("container ", job_.request.container_id,
                                                        " is already attached, as ", master));
  }
  // The earlier answer may have been lost in a power cut; this one promises the same.
  std::vector<cni::CacheKey> keys;
  keys.reserve(record.entries.size());
  for (const cni::CacheEntry& entry : record.entries) {
    keys.push_back({entry.network, entry.container_id, entry.ifname});
  }
  MNET_CO_TRY_VOID(co_await core_.ports.records.sync(job_.conf.cni_dir, job_.request.container_id,
                                                     std::move(keys)));
  job_.log.verbose(
      cat("ADD repeated for container ", job_.request.container_id, ": answered from the record"));
  const cni::CacheEntry* entry = record.find_entry(record.delegates->front().cni_name, master);
  co_return cni::read_result(*entry->result);
}

// Writes the status of a pod that lacks it: from the result cache, which has the routes that were
// set; for networks that were attached later, from the attachment record.
aio::Task<void> EarlierAdd::report(ContainerRecords record) {
  if (pod_ == nullptr) co_return Result<void>();
  const std::optional<model::AttachmentRecord>& recorded = record.attachment_record;
  if (core_.ports.owed != nullptr && recorded && recorded->status_owed) {
    core_.ports.owed->owe({.cni_dir = job_.conf.cni_dir,
                           .container_id = job_.request.container_id,
                           .pod = pod_,
                           .request_id = job_.request.id});
    co_return Result<void>();
  }
  auto present = co_await core_.ports.source->find_status(pod_);
  if (present && *present && !(*present)->empty()) co_return Result<void>();

  std::vector<model::NetworkStatus> all;
  const auto entries = listed_entries(record, record.master_ifname(job_.request.ifname));
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const model::Delegate& delegate = (*record.delegates)[i];
    const cni::CacheEntry& entry = (*entries)[i];
    MNET_CO_TRY(auto&& added, co_await statuses_of(delegate.name, delegate.is_master, *entry.result,
                                                   entry.capability_args));
    std::ranges::move(added, std::back_inserter(all));
  }
  const model::AttachmentRecord attachment_record =
      record.attachment_record.value_or(model::AttachmentRecord());
  for (const model::RecordedAttachment& attachment : attachment_record.attachments) {
    if (!is_plugged_in(attachment) || !attachment.result) continue;
    MNET_CO_TRY(auto&& added, co_await statuses_of(attachment.network, false, *attachment.result,
                                                   attachment.capability_args));
    std::ranges::move(added, std::back_inserter(all));
  }
  MNET_CO_TRY(auto&& text, co_await reporter_.text_of(std::move(all)));
  if (!text) co_return Result<void>();
  co_return co_await reporter_.write_status(*std::move(text));
}

aio::Task<std::vector<model::NetworkStatus>> EarlierAdd::statuses_of(std::string network,
                                                                     bool is_master,
                                                                     json::Value result,
                                                                     json::Object capability_args) {
  const auto device_info = co_await reporter_.find_device_info(std::move(capability_args));
  auto read = cni::read_result(result);
  if (!read) {
    co_return model::core_error(std::move(read).error(), job_.pod,
                                "error setting network statuses");
  }
  co_return reporter_.statuses_of(*read, network, is_master, device_info);
}

// Then the container has lived since, and no other one can have what it was given.
aio::asio::awaitable<bool> EarlierAdd::is_of_this_namespace(std::string netns, std::string boot_id,
                                                            std::uint64_t inode) {
  if (netns != job_.request.netns || boot_id != core_.options.boot_id || inode == 0)
    co_return false;
  const auto seen = co_await core_.ports.links.look(netns, {});
  co_return seen && seen->netns.inode == inode;
}

aio::Task<TakeDown> EarlierAdd::still_own(Remover* remover, TakeDown down) {
  MNET_CO_TRY(auto&& listed, co_await remover->still_own(std::move(down.listed)));
  MNET_CO_TRY(auto&& leftovers, co_await remover->still_own(std::move(down.leftovers)));
  co_return TakeDown{.listed = std::move(listed), .leftovers = std::move(leftovers)};
}

// What a failed ADD left behind is removed before a new one begins. If that does not succeed, the
// record must not be overwritten: a later DEL needs it.
aio::Task<void> EarlierAdd::clear_away(ContainerRecords record) {
  core_.forget_status(job_.request.container_id);
  bool has_lived = false;
  if (const auto& recorded = record.attachment_record) {
    has_lived =
        co_await is_of_this_namespace(recorded->netns, recorded->boot_id, recorded->netns_inode);
  }
  TakeDown down = take_down_of(job_, record);
  Remover remover(core_, job_);
  if (!has_lived) {
    auto own = co_await still_own(&remover, std::move(down));
    if (!own) co_return model::core_error(undecided(own.error()), job_.pod);
    down = *std::move(own);
  }
  Removal listed = co_await remover.remove(std::move(down.listed));
  Removal leftovers = co_await remover.remove(std::move(down.leftovers));
  for (const Error& error : leftovers.errors.errors())
    job_.log.error("cannot remove what an earlier ADD left", error);
  if (auto joined = listed.complete(); !joined) {
    co_return model::core_error(
        cni::coded(cni::Code::kTryAgainLater,
                   cat("an earlier ADD of container ", job_.request.container_id,
                       " could not be undone: ", joined.error().text())),
        job_.pod);
  }
  auto removed = co_await access_.remove();
  if (!removed) {
    co_return model::core_error(std::move(removed).error(), job_.pod, "error saving the delegates");
  }
  co_return Result<void>();
}

}  // namespace mnet::attach
