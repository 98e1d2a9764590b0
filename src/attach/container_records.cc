#include "attach/container_records.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/failpoint.h"
#include "aio/task.h"
#include "attach/core.h"
#include "attach/plan.h"
#include "attach/ports.h"
#include "attach/recorded_attachments.h"
#include "attach/request.h"
#include "attach/room.h"
#include "base/durability.h"
#include "base/error.h"
#include "base/reading.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/chain.h"
#include "cni/cache.h"
#include "cni/conf.h"
#include "cni/error.h"
#include "cni/types.h"
#include "json/json.h"
#include "model/attachment.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/scratch.h"

namespace mnet::attach {
namespace {

// An entry whose configuration cannot be read stays in the list: that it could not be deleted must
// be reported.
model::Delegate delegate_of_entry(const cni::CacheEntry& entry) {
  auto delegate = model::parse_delegate(entry.config);
  if (delegate) return *std::move(delegate);
  model::Delegate broken;
  broken.name = broken.cni_name = entry.network;
  broken.types = {""};
  broken.list = std::move(delegate).error();
  return broken;
}

// An ADD that clears away an earlier one has a namespace of its own, which may be another.
std::string netns_of(const Job& job, const cni::CacheEntry* entry) {
  if (job.verb == Verb::kAdd && entry != nullptr && !entry->netns.empty()) return entry->netns;
  return job.request.netns;
}

model::AttachmentPtr attachment_of_entry(const Job& job, const cni::CacheEntry& entry) {
  model::Attachment attachment;
  attachment.delegate = delegate_of_entry(entry);
  fill_version(attachment.delegate, job.conf.cni_version);
  attachment.container_id = entry.container_id;
  attachment.netns = netns_of(job, &entry);
  attachment.ifname = entry.ifname;
  attachment.args = entry.cni_args;
  attachment.capability_args = entry.capability_args;
  return std::make_shared<const model::Attachment>(std::move(attachment));
}

model::AttachmentPtr attachment_of_delegate(const Job& job, const ContainerRecords& record,
                                            model::Delegate delegate, std::string ifname) {
  fill_version(delegate, job.conf.cni_version);
  const cni::CacheEntry* entry = record.find_entry(delegate.cni_name, ifname);
  model::Attachment attachment = plan_again(job, std::move(delegate), std::move(ifname), false);
  // What ADD offered, if this request says nothing about it; a GC never does (02, 4.3 and 7.3).
  if (entry != nullptr && !job.conf.runtime_config) {
    attachment.capability_args = entry->capability_args;
  }
  if (entry != nullptr && job.verb == Verb::kGc) attachment.args = entry->cni_args;
  attachment.netns = netns_of(job, entry);
  return std::make_shared<const model::Attachment>(std::move(attachment));
}

// Attachments as `<network>, <interface>`.
using Covered = std::set<std::pair<std::string, std::string>>;

// In this order they go from last to first: secondaries in reverse name order, then the master (02,
// 6.2). Includes those that only the attachment record knows: their ADD never ended.
void list_entries(const Job& job, const ContainerRecords& record, Covered& covered,
                  TakeDown& down) {
  std::vector<model::AttachmentPtr> others;
  for (const cni::CacheEntry& entry : record.entries) {
    if (!covered.emplace(entry.network, entry.ifname).second) continue;
    auto& group = entry.ifname == job.request.ifname ? down.listed : others;
    group.push_back(attachment_of_entry(job, entry));
  }
  if (record.attachment_record) {
    for (const model::RecordedAttachment& recorded : record.attachment_record->attachments) {
      if (is_plugged_in(recorded)) continue;
      if (!covered.emplace(recorded.cni_name, recorded.ifname).second) continue;
      auto& group = recorded.source == model::Source::kCluster ? down.listed : others;
      group.push_back(attachment_of(job, *record.attachment_record, recorded, false));
    }
  }
  std::ranges::move(others, std::back_inserter(down.listed));
}

void list_delegates(const Job& job, ContainerRecords& record, Covered& covered, TakeDown& down) {
  const std::string master = record.master_ifname(job.request.ifname);
  for (std::size_t i = 0; i < record.delegates->size(); ++i) {
    model::Delegate& delegate = (*record.delegates)[i];
    std::string ifname = model::interface_name(delegate, i, master);
    // Entries that the result cache still has of a removed one are leftovers.
    if (delegate.removed) continue;
    covered.emplace(delegate.cni_name, ifname);
    down.listed.push_back(
        attachment_of_delegate(job, record, std::move(delegate), std::move(ifname)));
  }
}

// Entries of other programs in a `cniDir` that we share with them are not ours to delete.
std::vector<cni::CacheEntry> own_entries(std::vector<cni::CacheEntry> entries, const Job& job) {
  std::erase_if(entries, [&](const cni::CacheEntry& entry) {
    const auto delegate = model::parse_delegate(entry.config);
    return delegate && is_of_runtime(*delegate, job.conf);
  });
  return entries;
}

Result<std::optional<std::vector<model::Delegate>>> read_scratch(
    Result<std::optional<json::Array>> found) {
  if (!found) return std::move(found).error();
  if (!*found) return std::optional<std::vector<model::Delegate>>();
  MNET_TRY(auto&& delegates, model::decode_scratch(std::move(**found)));
  return std::optional<std::vector<model::Delegate>>(std::move(delegates));
}

// `record` learns of the files that could not be read.
Result<std::vector<cni::CacheEntry>> read_listing(Result<CacheListing> found, const Job& job,
                                                  ContainerRecords& record) {
  if (!found) return std::move(found).error();
  for (const Error& error : found->unreadable.errors()) {
    record.unreadable.add(error.wrap("reading the result cache"));
  }
  return own_entries(std::move(found->entries), job);
}

Result<std::optional<model::AttachmentRecord>> read_record(
    Result<std::optional<json::Object>> found) {
  if (!found) return std::move(found).error();
  if (!*found) return std::optional<model::AttachmentRecord>();
  MNET_TRY(auto&& decoded, model::decode_record(**found));
  return std::optional<model::AttachmentRecord>(std::move(decoded));
}

}  // namespace

bool is_of_runtime(const model::Delegate& delegate, const model::NetConf& conf) {
  return std::ranges::all_of(
      delegate.types, [&](const std::string& type) { return cni::is_own_type(type, conf.type); });
}

const cni::CacheEntry* ContainerRecords::find_entry(const std::string& network,
                                                    const std::string& ifname) const {
  const auto found = std::ranges::find_if(entries, [&](const cni::CacheEntry& entry) {
    return entry.network == network && entry.ifname == ifname;
  });
  return found == entries.end() ? nullptr : &*found;
}

std::string ContainerRecords::master_ifname(const std::string& cni_ifname) const {
  if (!delegates) return cni_ifname;
  const model::Delegate& master = delegates->front();
  if (!master.selection.ifname.empty()) return master.selection.ifname;
  if (find_entry(master.cni_name, cni_ifname) != nullptr) return cni_ifname;
  std::set<std::string> others;
  for (std::size_t i = 1; i < delegates->size(); ++i) {
    others.insert(model::interface_name((*delegates)[i], i, cni_ifname));
  }
  for (const cni::CacheEntry& entry : entries) {
    if (entry.network == master.cni_name && !others.contains(entry.ifname)) return entry.ifname;
  }
  return cni_ifname;
}

aio::Task<ContainerRecords> RecordAccess::load() {
  auto loaded = co_await load_files(RecordParts::kAll);
  co_return read(std::move(loaded));
}

aio::Task<ContainerRecords> RecordAccess::load_readable() {
  auto loaded = co_await load_files(RecordParts::kAll);
  co_return read_readable(std::move(loaded));
}

// A request that holds room goes on with that (HeldRoom::take).
aio::Task<StoredRecords> RecordAccess::load_files(RecordParts parts) {
  const std::string& cni_dir = job_.conf.cni_dir;
  const std::string& container_id = job_.request.container_id;
  Records& records = core_.ports.records;
  Room* room = core_.ports.room;
  const bool is_bound = room != nullptr && job_.room->weight() == 0;
  auto loaded =
      co_await records.load(cni_dir, container_id, parts, is_bound ? room->free() : kAnyWeight);
  if (!loaded || !loaded->too_heavy) co_return loaded;
  MNET_CO_TRY_VOID(co_await job_.take_room(room, std::min(*loaded->too_heavy, kLargestWeight)));
  co_return co_await records.load(cni_dir, container_id, parts, kAnyWeight);
}

aio::Task<std::size_t> RecordAccess::weigh() {
  MNET_CO_TRY(auto&& counted,
              co_await core_.ports.records.load(job_.conf.cni_dir, job_.request.container_id,
                                                RecordParts::kAll, 0));
  co_return counted.too_heavy.value_or(0);
}

Result<ContainerRecords> RecordAccess::read(Result<StoredRecords> loaded) const {
  auto record = read_readable(std::move(loaded));
  if (!record || record->unreadable.empty()) return record;
  return cni::coded(cni::Code::kTryAgainLater,
                    cat(record->unreadable.join(" / ").error().text(),
                        "; nothing was changed; fix this and try again"));
}

Result<ContainerRecords> RecordAccess::read_readable(Result<StoredRecords> loaded) const {
  StoredRecords stored;
  if (loaded) {
    stored = *std::move(loaded);
  } else {
    stored.scratch = std::move(loaded).error();
  }
  ContainerRecords record;
  record.has_file = !stored.scratch || *stored.scratch;
  record.has_attachment_record = !stored.record || *stored.record;
  MNET_TRY_VOID(
      take(record, read_scratch(std::move(stored.scratch)), record.delegates, "the scratch file"));
  MNET_TRY_VOID(take(record, read_listing(std::move(stored.results), job_, record), record.entries,
                     "the result cache"));
  MNET_TRY_VOID(take(record, read_record(std::move(stored.record)), record.attachment_record,
                     "the attachment record"));
  return record;
}

template <typename T>
Result<void> RecordAccess::take(ContainerRecords& record, Result<T> read, T& into,
                                std::string_view what) const {
  if (!read) return note_failure(record, read.error(), what);
  into = *std::move(read);
  return {};
}

Result<void> RecordAccess::note_failure(ContainerRecords& record, const Error& error,
                                        std::string_view what) const {
  const Error reading = error.wrap(cat("reading ", what));
  // Without room for them they were not even tried.
  if (error.code() == Errc::kCancelled || error.origin() != nullptr) return reading;
  if (is_shortage(error)) {
    return cni::coded(cni::Code::kTryAgainLater,
                      cat(reading.text(), "; nothing was changed, try again later"));
  }
  job_.log.error(is_damage(error) ? "damaged record" : "unreadable record", reading);
  if (!is_damage(error)) record.unreadable.add(reading);
  return {};
}

aio::Task<void> RecordAccess::save_delegates(std::vector<model::Delegate> delegates) {
  MNET_CO_TRY(auto&& done,
              co_await core_.ports.records.save(job_.conf.cni_dir, job_.request.container_id,
                                                {.scratch = model::encode_scratch(delegates)}));
  co_return std::move(done.scratch);
}

aio::Task<void> RecordAccess::mark_removed(ContainerRecords record, std::set<std::string> ifnames) {
  const std::string master = record.master_ifname(job_.request.ifname);
  for (std::size_t i = 0; i < record.delegates->size(); ++i) {
    model::Delegate& delegate = (*record.delegates)[i];
    delegate.removed =
        delegate.removed || ifnames.contains(model::interface_name(delegate, i, master));
  }
  co_return co_await save_delegates(*std::move(record.delegates));
}

aio::Task<void> RecordAccess::save_record(model::AttachmentRecord attachment_record) {
  MNET_CO_TRY(auto&& done, co_await core_.ports.records.save(
                               job_.conf.cni_dir, job_.request.container_id,
                               {.record = model::encode_record(std::move(attachment_record))}));
  co_return std::move(done.record);
}

aio::Task<void> RecordAccess::remove() {
  MNET_FAILPOINT("scratch-before-remove");
  MNET_CO_TRY(const auto& done,
              co_await core_.ports.records.remove(job_.conf.cni_dir, job_.request.container_id));
  if (!done.record) job_.log.error("cannot remove the attachment record", done.record.error());
  if (!done.scratch) co_return done.scratch.error();
  MNET_FAILPOINT("scratch-after-remove");
  co_return Result<void>();
}

aio::asio::awaitable<void> RecordAccess::restore_result(model::AttachmentPtr attachment,
                                                        json::Value result) {
  auto found = co_await core_.ports.results.find_result(job_.conf.cni_dir, attachment->key());
  if (!found || *found) co_return;  // one that cannot be read is Chain's business
  auto written = co_await core_.ports.results.write_result(
      job_.conf.cni_dir, chain::cache_entry(*attachment, std::move(result)), Durability::kInPlace);
  if (!written) job_.log.error("cannot restore a result-cache entry", written.error());
}

aio::Task<std::optional<model::AttachmentRecord>> find_record(Records* records, std::string cni_dir,
                                                              std::string container_id) {
  using Found = std::optional<model::AttachmentRecord>;
  MNET_CO_TRY(auto&& stored, co_await records->load(std::move(cni_dir), std::move(container_id),
                                                    RecordParts::kRecord, kAnyWeight));
  if (!stored.record && !is_damage(stored.record.error())) co_return stored.record.error();
  if (!stored.record || !*stored.record) co_return Found();
  auto decoded = model::decode_record(**stored.record);
  co_return decoded ? Found(*std::move(decoded)) : Found();
}

TakeDown take_down_of(const Job& job, ContainerRecords& record) {
  TakeDown down;
  Covered covered;
  std::vector<model::AttachmentPtr> plugged_in;
  if (record.attachment_record) {
    for (const model::RecordedAttachment& recorded : record.attachment_record->attachments) {
      if (!is_plugged_in(recorded)) continue;
      covered.emplace(recorded.cni_name, recorded.ifname);
      plugged_in.push_back(attachment_of(job, *record.attachment_record, recorded, false));
    }
  }
  if (record.delegates) {
    list_delegates(job, record, covered, down);
  } else {
    list_entries(job, record, covered, down);
  }
  for (const cni::CacheEntry& entry : record.entries) {
    if (covered.contains({entry.network, entry.ifname})) continue;
    down.leftovers.push_back(attachment_of_entry(job, entry));
  }
  std::ranges::move(plugged_in, std::back_inserter(down.listed));
  return down;
}

void fill_version(model::Delegate& delegate, const std::string& version) {
  if (!delegate.is_list || version.empty()) return;
  if (!delegate.list || !delegate.list->version.empty()) return;
  auto bytes = model::with_cni_version(delegate.bytes, version);
  if (bytes) model::set_bytes(delegate, *std::move(bytes));
}

}  // namespace mnet::attach
