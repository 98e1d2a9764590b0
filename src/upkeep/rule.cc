#include "upkeep/rule.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/container_records.h"
#include "attach/ports.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/result.h"
#include "json/json.h"
#include "model/attachment.h"
#include "model/attachment_record.h"
#include "model/delegate.h"

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
  co_return boot_id == boot_id_&& inode != 0 && seen->netns.inode == inode ? Namespace::kSame
                                                                           : Namespace::kOther;
}

aio::Task<attach::DelRule::Verdicts> Rule::judge(std::string cni_dir,
                                                 std::vector<model::AttachmentPtr> networks) {
  const std::string container_id = networks.front()->container_id;
  MNET_CO_TRY(const auto& record, co_await find_record(cni_dir, container_id));
  std::vector<Holding> wanted;
  for (const model::AttachmentPtr& network : networks) {
    const auto* recorded = record ? record->find(network->ifname) : nullptr;
    MNET_CO_TRY(auto&& holding, co_await holding_of(cni_dir, network,
                                                    recorded ? recorded->network : std::string()));
    wanted.push_back(std::move(holding));
  }
  MNET_CO_TRY(const auto& holders, co_await find_holders(cni_dir, container_id, std::move(wanted)));

  Verdicts verdicts;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    if (!holders[i].empty()) {
      verdicts.emplace_back(held(*networks[i], holders[i]));
      continue;
    }
    MNET_CO_TRY(auto&& netns, co_await netns_for(networks[i], record));
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

// A path that leads to nothing does no harm.
aio::Task<std::string> Rule::netns_for(model::AttachmentPtr network,
                                       std::optional<model::AttachmentRecord> record) {
  const std::string boot_id = record ? record->boot_id : std::string();
  const std::uint64_t inode = record ? record->netns_inode : 0;
  MNET_CO_TRY(const Namespace where, co_await find_namespace(network->netns, boot_id, inode));
  const bool may_be_entered = where == Namespace::kSame || where == Namespace::kGone;
  co_return may_be_entered ? network->netns : std::string();
}

Rule::Holding Rule::holding_of(const model::RecordedAttachment& recorded) {
  return {.device_id = recorded.device_id,
          .network = recorded.cni_name,
          .definition = recorded.network,
          .addresses = recorded.result ? addresses_in(*recorded.result) : std::set<std::string>()};
}

// Chain deals with an entry that cannot be read.
aio::Task<Rule::Holding> Rule::holding_of(std::string cni_dir, model::AttachmentPtr network,
                                          std::string definition) {
  Holding holding{.device_id = network->delegate.selection.device_id,
                  .network = network->delegate.cni_name,
                  .definition = std::move(definition),
                  .addresses = {}};
  const auto cached = co_await results_.find_result(std::move(cni_dir), network->key());
  if (cached && *cached) holding.addresses = addresses_in((*cached)->result);
  co_return holding;
}

// Reads one record after the other: each may be large. A namespace that cannot be looked at counts
// as a living container's.
aio::Task<std::vector<std::string>> Rule::find_holders(std::string cni_dir,
                                                       std::string container_id,
                                                       std::vector<Holding> wanted) {
  std::vector<std::string> holders(wanted.size());
  if (std::ranges::all_of(wanted, &Holding::is_empty)) co_return holders;
  MNET_CO_TRY(const auto& ids, co_await records_.list(cni_dir));
  for (const std::string& id : ids) {
    if (id == container_id) continue;
    MNET_CO_TRY(const auto& record, co_await find_record(cni_dir, id));
    if (!record) continue;
    std::set<std::size_t> shared;
    for (const model::RecordedAttachment& one : record->attachments) {
      const Holding theirs = holding_of(one);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i].overlaps(theirs)) shared.insert(i);
      }
    }
    if (shared.empty()) continue;
    const auto where = co_await find_namespace(record->netns, record->boot_id, record->netns_inode);
    const bool is_other =
        where && *where == Namespace::kOther && knows_namespace(*record, boot_id_);
    if (is_other || (where && *where == Namespace::kGone)) continue;
    for (const std::size_t i : shared) {
      holders[i] = cat("its device or address now belongs to ", described(*record));
    }
  }
  co_return holders;
}

}  // namespace mnet::upkeep
