#include "adapters/definition_reads.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "aio/cancel.h"
#include "aio/event.h"
#include "aio/task.h"
#include "attach/source.h"
#include "base/dns_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "kube/definitions.h"
#include "kube/gate.h"
#include "kube/kube.h"
#include "kube/watch_event.h"
#include "model/objects.h"

namespace mnet::adapters {
namespace {

std::string key_of(const std::string& ns, const std::string& name) { return cat(ns, "/", name); }

}  // namespace

// One read, which several requests may wait for.
struct DefinitionReads::Read {
  aio::Event ended;
  Result<model::NetworkDefinitionPtr> outcome = {};

  // However a read goes, its end is reported, and the next request begins another.
  struct Ending {
    DefinitionReads& reads;
    const std::string& key;
    Read& read;
    ~Ending() {
      reads.reads_.erase(key);
      read.ended.set();
    }
  };
};

aio::Task<model::NetworkDefinitionPtr> DefinitionReads::find(attach::NetworkLookup lookup) {
  if (!is_dns_label(lookup.ns) || !is_dns_subdomain(lookup.name)) {
    co_return model::NetworkDefinitionPtr();
  }
  if (auto known = store_.use(lookup.ns, lookup.name)) co_return known;
  if (is_missing(lookup.ns, lookup.name)) co_return model::NetworkDefinitionPtr();
  if (reads_.contains(key_of(lookup.ns, lookup.name))) {
    MNET_CO_TRY(auto&& found, co_await shared_read(lookup));
    if (found != nullptr) co_return found;
    // The read began before we asked: it may have missed a definition that came with its pod.
    if (is_missing(lookup.ns, lookup.name)) co_return model::NetworkDefinitionPtr();
  }
  co_return co_await read(std::move(lookup));
}

// Within what the request may read. A definition that is in the store but not in memory comes at
// the next attempt; a store that was never filled tells nothing, so every network is read, as
// without a store.
aio::Task<model::NetworkDefinitionPtr> DefinitionReads::read(attach::NetworkLookup lookup) {
  using Limit = attach::LiveReads::Limit;
  if (lookup.reads == nullptr) {
    co_return co_await shared_read(lookup);
  }
  MNET_CO_TRY([[maybe_unused]] const auto& slot,
              co_await lookup.reads->begin(watch_.is_synced() ? Limit::kInAll : Limit::kAtOnce));
  auto found = co_await shared_read(lookup);
  if (!found || *found == nullptr) lookup.reads->fail();
  co_return found;
}

aio::Task<model::NetworkDefinitionPtr> DefinitionReads::shared_read(attach::NetworkLookup lookup) {
  const std::string key = key_of(lookup.ns, lookup.name);
  const auto running = reads_.find(key);
  std::shared_ptr<Read> read = running == reads_.end() ? nullptr : running->second;
  if (read == nullptr) {
    read = std::make_shared<Read>();
    reads_[key] = read;
    if (!running_.spawn("network definition",
                        run({lookup.ns, lookup.name, lookup.asker(), lookup.request_id()}, read))) {
      reads_.erase(key);
      co_return aio::cancelled_error();
    }
  }
  MNET_CO_TRY_VOID(co_await read->ended.wait(lookup.deadline()));
  co_return read->outcome;
}

aio::Task<void> DefinitionReads::run(Wanted wanted, std::shared_ptr<Read> read) {
  const std::string key = key_of(wanted.ns, wanted.name);
  const Read::Ending ending{.reads = *this, .key = key, .read = *read};
  read->outcome = co_await fetch(std::move(wanted));
  if (read->outcome && *read->outcome == nullptr) note_missing(key);
  co_return Result<void>();  // the waiting requests have the error
}

// A definition that came, or changed, while the report of its absence was on its way exists.
aio::Task<model::NetworkDefinitionPtr> DefinitionReads::fetch(Wanted wanted) {
  const std::string before = version_of(wanted.ns, wanted.name);
  MNET_CO_TRY(auto&& found, co_await fetch_once(wanted));
  if (found == nullptr && version_of(wanted.ns, wanted.name) != before) {
    if (auto known = store_.use(wanted.ns, wanted.name)) co_return known;
    co_return co_await fetch_once(std::move(wanted));
  }
  co_return found;
}

aio::Task<model::NetworkDefinitionPtr> DefinitionReads::fetch_once(Wanted wanted) {
  ++count_;
  const auto& [ns, name, asker, request_id] = wanted;
  if (const kube::Definitions::Summary* known = store_.find(ns, name)) {
    log_.with_request(request_id)
        .verbose(cat("the text of network definition ", ns, "/", name, " (", known->size,
                     " bytes, types ", go_quoted(join(known->plugin_types, ",")),
                     ") is not in memory: reading it"));
  }
  MNET_CO_TRY(auto&& reply, co_await api_.call_patiently({.path = kube::network_path(ns, name),
                                                          .priority = kube::Priority::kLookup,
                                                          .share = asker,
                                                          .max_bytes = kube::kMaxFrame},
                                                         retries_));
  if (reply.status == 404) co_return model::NetworkDefinitionPtr();
  if (!reply.ok()) co_return reply.error();
  MNET_CO_TRY(auto&& object, json::parse_object_without(kube::kUnusedMembers, reply.body));
  std::string().swap(reply.body);  // freed early: the parsed object has its own copy
  MNET_CO_TRY(auto&& network, kube::parse_network(object));
  if (network.ns != ns || network.name != name) {
    co_return Error(Errc::kProtocol,
                    cat("the API server was asked for network definition ", ns, "/", name,
                        " and answered with ", excerpt(network.ns), "/", excerpt(network.name)));
  }
  auto whole = std::make_shared<const model::NetworkDefinition>(std::move(network));
  store_.keep(whole);
  co_return whole;
}

bool DefinitionReads::is_missing(const std::string& ns, const std::string& name) const {
  const auto found = missing_.find(key_of(ns, name));
  if (found == missing_.end() || timer_.now() - found->second >= kMissingFor) return false;
  return watch_.is_synced() && !watch_.down_for() && store_.find(ns, name) == nullptr;
}

void DefinitionReads::note_missing(const std::string& key) {
  const auto now = timer_.now();
  std::erase_if(missing_, [now](const auto& one) { return now - one.second >= kMissingFor; });
  missing_[key] = now;
}

std::string DefinitionReads::version_of(const std::string& ns, const std::string& name) const {
  const kube::Definitions::Summary* known = store_.find(ns, name);
  return known == nullptr ? "" : known->resource_version;
}

}  // namespace mnet::adapters
