#include "upkeep/rule.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/keyed_lock.h"
#include "aio/task.h"
#include "attach/container_records.h"
#include "attach/ports.h"
#include "attach/recorded_attachments.h"
#include "attach/room.h"
#include "base/error.h"
#include "base/reading.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/cache.h"
#include "cni/result.h"
#include "json/json.h"
#include "model/attachment.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/scratch.h"

namespace mnet::upkeep {
namespace {

std::set<std::string> addresses_in(const json::Value& result) {
  std::set<std::string> addresses;
  const auto read = cni::read_result(result);
  if (!read) return addresses;
  for (const cni::IpConfig& ip : read->ips) addresses.insert(ip.address.address.text());
  return addresses;
}

std::string_view namespace_of(std::string_view definition) {
  const auto slash = definition.find('/');
  return slash == std::string_view::npos ? std::string_view() : definition.substr(0, slash);
}

// Whether two sorted lists have an element in common.
bool has_any(const std::vector<std::uint32_t>& all, const std::vector<std::uint32_t>& some) {
  return std::ranges::any_of(
      some, [&all](std::uint32_t one) { return std::ranges::binary_search(all, one); });
}

bool may_be_of_one_author(std::string_view one, std::string_view other) {
  return one.empty() || other.empty() || namespace_of(one) == namespace_of(other);
}

// Whether another namespace at its path can be told from the container's own. Not with a record
// that was reconstructed for a container of another Multus; always after a reboot.
bool knows_namespace(const model::AttachmentRecord& record, const std::string& boot_id) {
  if (record.netns_inode != 0) return true;
  return !record.boot_id.empty() && record.boot_id != boot_id;
}

Error held(const model::Attachment& network, const std::string& holder) {
  return Error(Errc::kConflict, cat("network ", excerpt(network.delegate.cni_name), ", interface ",
                                    excerpt(network.ifname), " of container ", network.container_id,
                                    " is not deleted, because ", holder));
}

}  // namespace

std::string described(const model::AttachmentRecord& record) {
  std::string text = cat("container ", record.container_id);
  if (!record.pod_name.empty()) {
    text += cat(" of pod ", excerpt(record.pod_ns), "/", excerpt(record.pod_name));
  }
  return text;
}

bool Rule::Holding::overlaps(const Holding& other) const {
  if (!device_id.empty() && device_id == other.device_id) return true;
  if (network != other.network || !may_be_of_one_author(definition, other.definition)) return false;
  return std::ranges::any_of(addresses,
                             [&](const auto& one) { return other.addresses.contains(one); });
}

aio::Task<bool> Rule::is_needed(std::string, std::string) { co_return true; }

aio::Task<std::optional<model::AttachmentRecord>> Rule::find_record(std::string cni_dir,
                                                                    std::string container_id) {
  return attach::find_record(&records_, std::move(cni_dir), std::move(container_id));
}

aio::Task<Namespace> Rule::find_namespace(std::string netns, std::string boot_id,
                                          std::uint64_t inode) {
  if (netns.empty()) co_return Namespace::kGone;
  const auto seen = co_await links_.look(std::move(netns), {});
  if (!seen && seen.error().code() == Errc::kNotFound) co_return Namespace::kGone;
  if (!seen && seen.error().code() == Errc::kInvalid) co_return Namespace::kUnknown;
  if (!seen) co_return seen.error();
  if (boot_id_.empty() && !boot_id.empty()) co_return Namespace::kUnknown;
  const bool is_same = (boot_id == boot_id_ && inode != 0 && seen->netns.inode == inode);
  co_return is_same ? Namespace::kSame : Namespace::kOther;
}

aio::Task<attach::DelRule::Verdicts> Rule::judge(std::string cni_dir,
                                                 std::vector<model::AttachmentPtr> networks,
                                                 IsGone is_gone) {
  const std::string container_id = networks.front()->container_id;
  MNET_CO_TRY(const auto& record, co_await find_record(cni_dir, container_id));
  std::vector<Holding> wanted;
  for (const model::AttachmentPtr& network : networks) {
    const auto* recorded = record ? record->find(network->ifname) : nullptr;
    MNET_CO_TRY(auto&& holding, co_await holding_of(cni_dir, network,
                                                    recorded ? holding_of(*recorded) : Holding()));
    wanted.push_back(std::move(holding));
  }
  MNET_CO_TRY(const auto& holders,
              co_await find_holders(cni_dir, container_id, std::move(wanted), std::move(is_gone)));

  Verdicts verdicts;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    if (!holders[i].empty()) {
      verdicts.emplace_back(held(*networks[i], holders[i]));
      continue;
    }
    MNET_CO_TRY(auto&& netns,
                co_await netns_for(cni_dir, networks[i], record ? record->boot_id : std::string(),
                                   record ? record->netns_inode : 0));
    if (netns == networks[i]->netns) {
      verdicts.emplace_back(networks[i]);
      continue;
    }
    auto moved = std::make_shared<model::Attachment>(*networks[i]);
    moved->netns = std::move(netns);
    verdicts.emplace_back(std::move(moved));
  }
  co_return verdicts;
}

// A path that leads to nothing does no harm. The numbers of processes and of namespaces are both
// used again: below /proc, two records may name the same path and inode.
aio::Task<std::string> Rule::netns_for(std::string cni_dir, model::AttachmentPtr network,
                                       std::string boot_id, std::uint64_t inode) {
  MNET_CO_TRY(const Namespace where,
              co_await find_namespace(network->netns, std::move(boot_id), inode));
  if (where == Namespace::kGone) co_return network->netns;
  if (where != Namespace::kSame) co_return std::string();
  if (!network->netns.starts_with("/proc/")) co_return network->netns;
  MNET_CO_TRY(const bool is_anothers,
              co_await this->is_anothers(std::move(cni_dir), network->container_id, inode));
  co_return is_anothers ? std::string() : network->netns;
}

Rule::Holding Rule::holding_of(const model::RecordedAttachment& recorded) {
  return {.device_id = recorded.device_id,
          .network = recorded.cni_name,
          .definition = recorded.network,
          .addresses = recorded.result ? addresses_in(*recorded.result) : std::set<std::string>()};
}

std::vector<Rule::Holding> Rule::holdings_of(const model::AttachmentRecord& record) {
  std::vector<Holding> holdings;
  for (const model::RecordedAttachment& one : record.attachments) {
    holdings.push_back(holding_of(one));
  }
  return holdings;
}

// A damaged entry tells the plugins nothing either.
aio::Task<Rule::Holding> Rule::holding_of(std::string cni_dir, model::AttachmentPtr network,
                                          Holding recorded) {
  Holding holding = std::move(recorded);
  holding.network = network->delegate.cni_name;
  if (const std::string& device = network->delegate.selection.device_id; !device.empty()) {
    holding.device_id = device;
  }
  const auto cached = co_await results_.find_result(std::move(cni_dir), network->key());
  const bool is_unknown = !cached && !is_damage(cached.error()) && holding.addresses.empty();
  if (is_unknown) co_return cached.error();
  if (cached && *cached) holding.addresses.merge(addresses_in((*cached)->result));
  co_return holding;
}

Rule::Marks Rule::marks_of(const std::vector<Holding>& holdings) {
  const auto mark = [](const std::string& text) {
    return static_cast<std::uint32_t>(std::hash<std::string>()(text));
  };
  Marks marks;
  for (const Holding& holding : holdings) {
    if (!holding.device_id.empty()) marks.push_back(mark(cat("device ", holding.device_id)));
    for (const std::string& address : holding.addresses) {
      marks.push_back(mark(cat("address ", holding.network, " ", address)));
    }
  }
  std::ranges::sort(marks);
  const auto doubles = std::ranges::unique(marks);
  marks.erase(doubles.begin(), doubles.end());
  marks.shrink_to_fit();
  return marks;
}

// Those without a record that can be read, and will say the same next time, are always among them.
aio::Task<std::vector<std::string>> Rule::find_suspects(std::string cni_dir, Marks wanted) {
  MNET_CO_TRY(const auto& listed, co_await records_.list_stamped(cni_dir));
  std::map<std::string, Known>& known = known_[cni_dir];
  std::vector<std::string> suspects;
  for (const auto& [id, stamp] : listed) {
    const auto found = known.find(id);
    const bool is_new = !stamp.empty() && (found == known.end() || found->second.stamp != stamp);
    if (is_new) {
      MNET_CO_TRY(const auto& record, co_await find_record(cni_dir, id));
      if (record) known[id] = {.stamp = stamp, .marks = marks_of(holdings_of(*record))};
    }
    const auto now = is_new ? known.find(id) : found;
    const bool is_known = !stamp.empty() && now != known.end() && now->second.stamp == stamp;
    if (!is_known || has_any(now->second.marks, wanted)) suspects.push_back(id);
  }
  if (known.size() > listed.size()) {
    std::erase_if(known, [&listed](const auto& one) {
      return !std::ranges::binary_search(listed, one.first, {},
                                         &attach::StampedRecord::container_id);
    });
  }
  co_return suspects;
}

// Reads one container after the other: each may be large.
aio::Task<std::vector<std::string>> Rule::find_holders(std::string cni_dir,
                                                       std::string container_id,
                                                       std::vector<Holding> wanted,
                                                       IsGone is_gone) {
  std::vector<std::string> holders(wanted.size());
  if (std::ranges::all_of(wanted, &Holding::is_empty)) co_return holders;
  // One after the other: tenants choose how large records are, and several DELs may ask.
  MNET_CO_TRY([[maybe_unused]] const auto& turn, co_await turns_.lock(cni_dir));
  MNET_CO_TRY(const auto& ids, co_await find_suspects(cni_dir, marks_of(wanted)));
  for (const std::string& id : ids) {
    if (id == container_id || (is_gone && is_gone(id))) continue;
    MNET_CO_TRY(const auto& other, co_await find_other(cni_dir, id));
    std::set<std::size_t> shared;
    for (const Holding& theirs : other.holdings) {
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i].overlaps(theirs)) shared.insert(i);
      }
    }
    if (shared.empty()) continue;
    MNET_CO_TRY(const bool may_live, co_await this->may_live(cni_dir, other.record));
    if (!may_live) continue;
    for (const std::size_t i : shared) {
      holders[i] = cat("its device or address now belongs to ", described(other.record));
    }
  }
  co_return holders;
}

aio::Task<Rule::Other> Rule::find_other(std::string cni_dir, std::string container_id) {
  MNET_CO_TRY(auto&& record, co_await find_record(cni_dir, container_id));
  if (!record) co_return co_await find_unrecorded(std::move(cni_dir), std::move(container_id));
  Other other;
  other.holdings = holdings_of(*record);
  record->attachments.clear();
  other.record = *std::move(record);
  co_return other;
}

// Another Multus attached it, or its record is damaged. The result cache has the addresses, the
// scratch file the devices.
aio::Task<Rule::Other> Rule::find_unrecorded(std::string cni_dir, std::string container_id) {
  MNET_CO_TRY(auto&& stored, co_await records_.load(std::move(cni_dir), container_id,
                                                    attach::RecordParts::kAll, attach::kAnyWeight));
  MNET_CO_TRY(const auto& results, std::move(stored.results));
  MNET_CO_TRY_VOID(results.unreadable.join(" / "));
  if (!stored.scratch && !is_damage(stored.scratch.error())) co_return stored.scratch.error();

  Other other;
  for (const cni::CacheEntry& entry : results.entries) {
    other.record = attach::header_of({.container_id = container_id,
                                      .netns = entry.netns,
                                      .cni_args = entry.cni_args,
                                      .attachments = {}});
    Holding holding{.network = entry.network};
    if (entry.result) holding.addresses = addresses_in(*entry.result);
    other.holdings.push_back(std::move(holding));
  }
  if (!stored.scratch || !*stored.scratch) co_return other;
  const auto delegates = model::decode_scratch(**std::move(stored.scratch));
  if (!delegates) co_return other;
  for (const model::Delegate& delegate : *delegates) {
    if (!delegate.removed) other.holdings.push_back({.device_id = delegate.selection.device_id});
  }
  co_return other;
}

// A namespace that cannot be looked at counts as a living container's.
aio::Task<bool> Rule::may_live(std::string cni_dir, model::AttachmentRecord record) {
  const auto where = co_await find_namespace(record.netns, record.boot_id, record.netns_inode);
  if (!where && where.error().code() == Errc::kCancelled) co_return where.error();
  if (!where) co_return true;
  if (*where == Namespace::kOther) co_return !knows_namespace(record, boot_id_);
  if (*where != Namespace::kGone) co_return true;
  co_return co_await is_used_unseen(std::move(cni_dir), std::move(record));
}

// Where mounts do not reach us, the path of a living container's namespace leads nowhere, and only
// its processes show it. The kernel uses the inode of a namespace that is gone again.
aio::Task<bool> Rule::is_used_unseen(std::string cni_dir, model::AttachmentRecord record) {
  if (!used_ || record.netns_inode == 0 || record.boot_id != boot_id_) co_return false;
  const auto used = co_await used_();
  if (!used && used.error().code() == Errc::kDenied) co_return false;
  if (!used) co_return used.error();
  if (!used->contains(record.netns_inode)) co_return false;
  MNET_CO_TRY(const bool is_anothers,
              co_await this->is_anothers(std::move(cni_dir), std::move(record.container_id),
                                         record.netns_inode));
  co_return !is_anothers;
}

aio::Task<bool> Rule::is_anothers(std::string cni_dir, std::string container_id,
                                  std::uint64_t inode) {
  MNET_CO_TRY(const auto& ids, co_await records_.list(cni_dir));
  for (const std::string& id : ids) {
    if (id == container_id) continue;
    MNET_CO_TRY(const auto& other, co_await find_record(cni_dir, id));
    if (!other || other->netns_inode != inode) continue;
    MNET_CO_TRY(const Namespace where,
                co_await find_namespace(other->netns, other->boot_id, inode));
    if (where == Namespace::kSame) co_return true;
  }
  co_return false;
}

}  // namespace mnet::upkeep
