// ADD for a container that has a record already (02, 5.1 step 5).
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attach/add.h"
#include "attach/messages.h"
#include "attach/plan.h"
#include "attach/remove.h"
#include "base/text.h"
#include "cni/error.h"

namespace mnet::attach {
namespace {

// Names of the links that a result says are in the pod. A result of an old version lists none: then
// it is the one that was asked for.
Result<std::vector<std::string>> links_of(const json::Value& document, const std::string& ifname) {
  auto result = cni::read_result(document);
  if (!result) return std::move(result).error();
  std::vector<std::string> names;
  for (const cni::Interface& interface : result->interfaces) {
    if (!interface.sandbox.empty()) names.push_back(interface.name);
  }
  if (result->interfaces.empty() && result->has_content()) names.push_back(ifname);
  return names;
}

// The links of all delegates; none if the record is incomplete or of another namespace.
std::optional<std::vector<std::string>> recorded_links(const Record& record, const Job& job,
                                                       const std::string& master) {
  if (!record.delegates) return std::nullopt;
  std::vector<std::string> all;
  for (std::size_t i = 0; i < record.delegates->size(); ++i) {
    const Delegate& delegate = (*record.delegates)[i];
    const std::string ifname = interface_name(delegate, i, master);
    const CacheEntry* entry = record.find_entry(delegate.cni_name, ifname);
    if (delegate.removed || entry == nullptr || !entry->result) return std::nullopt;
    if (entry->netns != job.request.netns) return std::nullopt;
    auto names = links_of(*entry->result, ifname);
    if (!names) return std::nullopt;
    all.insert(all.end(), names->begin(), names->end());
  }
  return all;
}

}  // namespace

// A link's name in the namespace that the path now leads to stands for its identity: a namespace
// made anew has none of them.
aio::Task<bool> Adding::still_stands(Record record) {
  const auto names = recorded_links(record, job_, record.master_ifname(job_.request.ifname));
  if (!names) co_return false;
  if (names->empty()) co_return true;
  auto seen = co_await core_.ports.links.look(job_.request.netns, *names);
  co_return seen && seen->taken.size() == names->size();
}

aio::Task<std::optional<cni::NetResult>> Adding::settle_earlier_add() {
  auto scratch =
      co_await core_.ports.records.find_scratch(job_.conf.cni_dir, job_.request.container_id);
  if (scratch && !*scratch) co_return std::optional<cni::NetResult>();

  const Record record = co_await book_.load();
  auto stands = co_await still_stands(record);
  if (!stands || !*stands) {
    auto cleared = co_await clear_away(record);
    if (!cleared) co_return std::move(cleared).error();
    co_return std::optional<cni::NetResult>();
  }
  const std::string master = record.master_ifname(job_.request.ifname);
  if (master != interface_name(record.delegates->front(), 0, job_.request.ifname)) {
    co_return core_error(
        cni::coded(cni::Code::kTryAgainLater, cat("container ", job_.request.container_id,
                                                  " is attached already, as ", master)),
        job_.pod);
  }
  // The earlier answer may be lost because the power went; this one promises what it promised.
  std::vector<CacheKey> keys;
  for (const CacheEntry& entry : record.entries) {
    keys.push_back({entry.network, entry.container_id, entry.ifname});
  }
  auto synced = co_await book_.sync();
  if (synced) synced = co_await core_.ports.records.sync_results(job_.conf.cni_dir, keys);
  if (!synced) co_return core_error(std::move(synced).error(), job_.pod);
  job_.log.verbose(
      cat("ADD repeated for container ", job_.request.container_id, ": answered from the record"));
  const CacheEntry* entry = record.find_entry(record.delegates->front().cni_name, master);
  auto result = cni::read_result(*entry->result);
  if (!result) co_return core_error(std::move(result).error(), job_.pod);
  co_return std::optional<cni::NetResult>(*std::move(result));
}

// What an ADD that did not end well left behind goes before a new one begins. If it does not, the
// record must not be overwritten: it is what a later DEL needs.
aio::Task<void> Adding::clear_away(Record record) {
  TakeDown down = take_down_of(job_, record);
  Remover remover(core_, job_);
  Removal listed = co_await remover.remove(std::move(down.listed));
  Removal leftovers = co_await remover.remove(std::move(down.leftovers));
  for (const Error& error : leftovers.errors.errors()) job_.log.error("left over", error);
  if (auto joined = listed.errors.join(" / "); !joined) {
    co_return core_error(cni::coded(cni::Code::kTryAgainLater,
                                    cat("an earlier ADD of container ", job_.request.container_id,
                                        " could not be undone: ", joined.error().text())),
                         job_.pod);
  }
  auto removed = co_await book_.remove();
  if (!removed) {
    co_return core_error(std::move(removed).error(), job_.pod, "error saving the delegates");
  }
  co_return Result<void>();
}

}  // namespace mnet::attach
