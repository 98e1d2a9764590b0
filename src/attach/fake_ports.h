// Fakes of attach's ports: a node in memory that records what was asked of it. For tests of attach
// and of folders that build on it.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "aio/event.h"
#include "attach/add_routes.h"
#include "attach/ports.h"
#include "base/error.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/fake_ports.h"
#include "cni/version.h"
#include "json/json.h"
#include "model/attachment_record.h"

namespace mnet::attach {

using chain::Calls;
using chain::FakePlugins;

class FakeNetworks : public Networks {
 public:
  aio::Task<model::Delegate> by_path(std::string path, std::string) override {
    const auto found = configs.find(path);
    if (found == configs.end()) {
      co_return Error(Errc::kNotFound, cat("cannot find network ", path));
    }
    MNET_CO_TRY(auto&& delegate, model::parse_delegate(found->second));
    delegate.from_list_file = path.ends_with(".conflist");
    co_return delegate;
  }
  aio::Task<model::Delegate> by_name(std::string conf_dir, std::string name) override {
    const auto found = named.find(name);
    if (found == named.end()) {
      co_return Error(Errc::kNotFound,
                      cat("no network available in the name ", name, " in cni dir ", conf_dir));
    }
    co_return model::parse_delegate(found->second);
  }
  aio::Task<std::vector<cni::PluginConf>> auxiliary_plugins(std::string path,
                                                            std::string name) override {
    auxiliary_asked.push_back(cat(path, " ", name));
    if (auxiliary_error) co_return *auxiliary_error;
    std::vector<cni::PluginConf> plugins;
    for (const std::string& text : auxiliary) {
      MNET_CO_TRY(auto&& conf, cni::parse_conf(text));
      plugins.push_back(std::move(conf));
    }
    co_return plugins;
  }

  std::map<std::string, std::string> configs;  // by path
  std::map<std::string, std::string> named;    // by CNI name
  std::vector<std::string> auxiliary;
  std::vector<std::string> auxiliary_asked;
  std::optional<Error> auxiliary_error;
};

class FakeLinks : public Links, public LinkNames {
 public:
  aio::Task<TakenNames> look(std::string netns, std::vector<std::string> ifnames) override {
    co_return look_now(netns, ifnames);
  }
  Result<TakenNames> look_now(const std::string& netns, const std::vector<std::string>& ifnames) {
    if (error) return *error;
    const auto found = namespaces.find(netns);
    if (found == namespaces.end()) {
      return Error(Errc::kNotFound, cat("no net namespace ", netns, " found"));
    }
    TakenNames seen{.netns = {.device = 4, .inode = inodes[netns]}, .taken = {}};
    for (const std::string& name : ifnames) {
      if (found->second.contains(name)) seen.taken.push_back(name);
    }
    return seen;
  }

  aio::Task<std::vector<Link>> list(std::string netns) override {
    if (error) co_return *error;
    std::vector<Link> links;
    for (const std::string& name : namespaces[netns]) {
      std::uint64_t& index = indexes[name];
      if (index == 0) index = ++last_index;
      links.push_back({.name = name, .index = index});
    }
    std::erase_if(indexes, [&](const auto& one) { return !namespaces[netns].contains(one.first); });
    co_return links;
  }
  aio::Task<void> rename(std::string netns, std::uint64_t index, std::string name) override {
    for (const auto& [old_name, its] : indexes) {
      if (its != index) continue;
      rename_now(netns, std::string(old_name), name);
      co_return Result<void>();
    }
    co_return Error(Errc::kNotFound, "no such link");
  }
  void rename_now(const std::string& netns, const std::string& from, const std::string& to) {
    namespaces[netns].erase(from);
    namespaces[netns].insert(to);
    const std::uint64_t index = indexes[from];
    indexes.erase(from);
    indexes[to] = index;
  }

  std::map<std::string, std::uint64_t> indexes;  // by name
  std::uint64_t last_index = 1;
  std::map<std::string, std::set<std::string>> namespaces = {{"/ns", {}}};
  std::map<std::string, std::uint64_t> inodes;  // another number: a namespace made anew
  std::optional<Error> error;                   // of every look
};

// Default routes by interface and family.
class FakeRoutes : public Routes {
 public:
  explicit FakeRoutes(Calls& calls) : calls_(calls) {}

  aio::Task<bool> has_default(std::string, std::string ifname, AddressFamily family) override {
    co_return defaults.contains({ifname, family});
  }
  aio::Task<void> remove_defaults(std::string, std::string ifname, AddressFamily family) override {
    auto done = act(cat("remove default ", name_of(family), " ", ifname));
    if (done) defaults.erase({ifname, family});
    co_return done;
  }
  aio::Task<void> add_default(std::string, std::string ifname, cni::IpAddress gateway,
                              std::vector<std::string>) override {
    auto done = act(cat("add default ", ifname, " via ", gateway.text()));
    if (done)
      defaults[{ifname, gateway.is_v4() ? AddressFamily::kV4 : AddressFamily::kV6}] =
          gateway.text();
    co_return done;
  }

  static std::string name_of(AddressFamily family) {
    return family == AddressFamily::kV4 ? "v4" : "v6";
  }

  std::map<std::pair<std::string, AddressFamily>, std::string> defaults;  // gateways
  std::map<std::string, Error> errors;                                    // by line of `calls`

 private:
  Result<void> act(std::string what) {
    calls_.push_back(what);
    if (const auto found = errors.find(what); found != errors.end()) return found->second;
    return {};
  }

  Calls& calls_;
};

class FakeDeviceInfos : public DeviceInfos {
 public:
  aio::Task<void> copy(std::string resource_name, std::string device_id,
                       std::string path) override {
    if (error) co_return *error;
    const auto found = of_plugins.find({resource_name, device_id});
    if (found != of_plugins.end()) files[path] = found->second;
    co_return Result<void>();
  }
  aio::Task<std::optional<json::Object>> find(std::string path) override {
    if (error) co_return *error;
    const auto found = files.find(path);
    if (found == files.end()) co_return std::optional<json::Object>();
    co_return std::optional<json::Object>(found->second);
  }
  aio::Task<void> remove(std::string path) override {
    files.erase(path);
    co_return Result<void>();
  }

  std::map<std::pair<std::string, std::string>, json::Object> of_plugins;  // resource, device
  std::map<std::string, json::Object> files;                               // by path
  std::optional<Error> error;
};

class FakeSource : public ObjectSource {
 public:
  explicit FakeSource(Calls& calls) : calls_(calls) {}

  aio::Task<model::PodObjectPtr> find_pod(PodLookup lookup) override {
    lookups.push_back(lookup);
    if (pod_error) co_return *pod_error;
    const std::string key = cat(lookup.ns, "/", lookup.name);
    if (lookup.newest && newest_error) co_return *newest_error;
    if (const auto newest = newest_pods.find(key); lookup.newest && newest != newest_pods.end()) {
      co_return newest->second;
    }
    const auto stored = cut_pods.find(key);
    if (lookup.may_be_cut && stored != cut_pods.end()) co_return stored->second;
    const auto found = pods.find(key);
    co_return found == pods.end() ? nullptr : found->second;
  }
  bool is_complete() const override { return complete; }
  aio::Task<model::NetworkDefinitionPtr> find_network(NetworkLookup lookup) override {
    asked.push_back(cat(lookup.ns, "/", lookup.name));
    limits.insert(lookup.reads);
    deadlines.insert(lookup.deadline());
    if (network_error) co_return *network_error;
    const auto found = networks.find(asked.back());
    co_return found == networks.end() ? nullptr : found->second;
  }
  std::optional<json::Count> count_network(const std::string& ns,
                                           const std::string& name) const override {
    const auto found = networks.find(cat(ns, "/", name));
    if (found == networks.end() || unknown) return std::nullopt;
    return json::count(found->second->config.value_or(""));
  }
  aio::Task<void> write_status(model::PodObjectPtr pod, std::string text, Log) override {
    calls_.push_back(cat("write status ", pod->ns, "/", pod->name));
    if (status_gate) {
      MNET_CO_TRY_VOID(co_await status_gate->wait());
    }
    if (status_error) co_return *status_error;
    statuses[cat(pod->ns, "/", pod->name)] = std::move(text);
    co_return Result<void>();
  }
  aio::Task<std::optional<StatusDelay>> try_status(model::PodObjectPtr pod, std::string text,
                                                   Log) override {
    if (on_try) on_try();
    if (status_delay) {
      calls_.push_back(cat("try status ", pod->ns, "/", pod->name));
      co_return *status_delay;
    }
    MNET_CO_TRY_VOID(co_await write_status(std::move(pod), std::move(text), Log()));
    co_return std::optional<StatusDelay>();
  }
  aio::Task<std::optional<std::string>> find_status(model::PodObjectPtr pod) override {
    const auto found = statuses.find(cat(pod->ns, "/", pod->name));
    if (found == statuses.end()) co_return std::optional<std::string>();
    co_return std::optional<std::string>(found->second);
  }
  void send(PodEvent event) override {
    events.push_back(
        cat(event.is_warning ? "Warning " : "Normal ", event.reason, ": ", event.message));
  }

  void add_pod(const std::string& ns, const std::string& name,
               std::map<std::string, std::string, std::less<>> annotations) {
    auto pod = std::make_shared<model::PodObject>();
    pod->ns = ns;
    pod->name = name;
    pod->uid = "u1";
    pod->annotations = std::move(annotations);
    pods[cat(ns, "/", name)] = pod;
  }
  void add_network(const std::string& ns, const std::string& name, const std::string& config,
                   const std::string& resource_name = {}) {
    auto network = std::make_shared<model::NetworkDefinition>();
    network->ns = ns;
    network->name = name;
    network->config = config;
    network->resource_name = resource_name;
    networks[cat(ns, "/", name)] = network;
  }

  std::map<std::string, model::PodObjectPtr> pods;              // by `<ns>/<name>`
  std::map<std::string, model::PodObjectPtr> cut_pods;          // what is kept of these
  std::map<std::string, model::PodObjectPtr> newest_pods;       // that these lag behind
  std::map<std::string, model::NetworkDefinitionPtr> networks;  // the same
  bool complete = true;
  bool unknown = false;  // networks are there, but not counted
  std::vector<PodLookup> lookups;
  std::vector<std::string> asked;  // networks
  std::set<LiveReads*> limits;     // that they were asked for with
  std::set<aio::Deadline> deadlines;
  std::vector<std::string> events;
  std::map<std::string, std::string> statuses;
  std::optional<Error> pod_error, newest_error, network_error, status_error;
  std::shared_ptr<aio::Event> status_gate;  // what write_status() waits for, if there is one
  std::optional<StatusDelay> status_delay;  // of every attempt
  std::function<void()> on_try;

 private:
  Calls& calls_;
};

class FakeOwedStatuses : public OwedStatuses {
 public:
  explicit FakeOwedStatuses(Calls& calls) : calls_(calls) {}

  void owe(OwedStatus status) override { owed.push_back(std::move(status)); }
  void forget(const std::string& container_id) override {
    calls_.push_back(cat("forget status of ", container_id));
  }
  void forget_pod(const model::PodObject& pod) override {
    calls_.push_back(cat("forget status of pod ", pod.key()));
  }

  std::vector<OwedStatus> owed;

 private:
  Calls& calls_;
};

class FakeDevices : public Devices {
 public:
  aio::Task<std::map<std::string, std::vector<std::string>>> allocated(model::PodObjectPtr,
                                                                       std::string, Log) override {
    ++asked;
    if (error) co_return *error;
    co_return ids;
  }
  aio::Task<bool> is_device(model::PodObjectPtr, std::string resource_name, Log) override {
    ++asked_whether;
    if (doubt) co_return *doubt;
    co_return known.contains(resource_name);
  }
  std::string name() const override { return "kubelet"; }

  std::map<std::string, std::vector<std::string>> ids;  // by resource
  std::set<std::string> known;                          // resources of devices
  std::optional<Error> doubt;                           // of what is not known
  int asked = 0;
  int asked_whether = 0;  // a resource is one of devices
  std::optional<Error> error;
};

class FakeReadiness : public ReadinessIndicator {
 public:
  aio::Task<bool> exists(std::string path) override {
    ++asked;
    if (on_ask) on_ask();
    co_return files.contains(path);
  }

  std::set<std::string> files;
  int asked = 0;
  std::function<void()> on_ask;
};

// Gives room at once, or as told.
class FakeRoom : public Room {
 public:
  std::size_t free() const override { return free_weight; }
  aio::Task<std::unique_ptr<Share>> take(RoomRequest request) override {
    if (on_take) on_take();
    taken.push_back(request.weight);
    requests.push_back(request);
    if (error) co_return *error;
    co_return std::make_unique<Given>(*this);
  }

  std::size_t free_weight = 2200;
  std::vector<std::size_t> taken;
  std::vector<RoomRequest> requests;
  int held = 0;
  std::vector<std::size_t> kept;  // what of it turned out to be enough
  std::function<void()> on_take;
  std::optional<Error> error;

 private:
  struct Given : Share {
    explicit Given(FakeRoom& from) : room(from) { ++room.held; }
    ~Given() override { --room.held; }
    void keep(std::size_t weight) override { room.kept.push_back(weight); }
    FakeRoom& room;
  };
};

class FakeRecords : public Records, public chain::FakeResults {
 public:
  FakeRecords(Calls& calls, FakeLinks& links) : FakeResults(calls), links_(links) {}

  aio::Task<void> sync(std::string, std::string container_id,
                       std::vector<cni::CacheKey> keys) override {
    MNET_CO_TRY_VOID(sync_scratch(container_id));
    if (keys.empty()) co_return Result<void>();
    MNET_CO_TRY_VOID(act("sync results"));
    for (const cni::CacheKey& key : keys) unsynced.erase(name_of(key));
    co_return Result<void>();
  }
  aio::Task<StoredRecords> load(std::string, std::string container_id, RecordParts parts,
                                std::size_t most) override {
    StoredRecords stored;
    if (const auto found = weights.find(container_id);
        found != weights.end() && found->second > most) {
      stored.too_heavy = found->second;
      co_return stored;
    }
    if (parts != RecordParts::kRecord) stored.scratch = find_scratch(container_id);
    if (parts == RecordParts::kAll || !stored.scratch || *stored.scratch) {
      if (parts != RecordParts::kRecord) stored.results = results_of(container_id);
    }
    stored.record = find_record(container_id);
    ++record_loads;
    co_return stored;
  }
  aio::Task<RecordsDone> save(std::string cni_dir, std::string container_id,
                              RecordsToSave what) override {
    RecordsDone done;
    if (what.record) done.record = act(cat("write record ", container_id));
    if (what.record && done.record) {
      damaged_records.erase(container_id);  // the file is another one now
      records[container_id] = *std::move(what.record);
    }
    if (!what.scratch) co_return done;
    done.scratch = write_scratch(cni_dir, container_id, *std::move(what.scratch));
    if (done.scratch) done.scratch = sync_scratch(container_id);
    co_return done;
  }
  aio::Task<RecordsDone> remove(std::string, std::string container_id) override {
    RecordsDone done{.scratch = act(cat("remove scratch ", container_id)), .record = {}};
    records.erase(container_id);
    damaged_records.erase(container_id);
    if (!done.scratch) co_return done;
    scratch.erase(container_id);
    damaged.erase(container_id);
    unsynced.erase(container_id);
    co_return done;
  }
  aio::Task<void> settle_status(std::string, std::string container_id) override {
    MNET_CO_TRY_VOID(act(cat("settle status ", container_id)));
    const auto found = records.find(container_id);
    if (found != records.end()) found->second.erase(model::kStatusOwed);
    co_return Result<void>();
  }
  aio::Task<std::vector<std::string>> list(std::string) override {
    std::set<std::string> ids = damaged;
    ids.insert(damaged_records.begin(), damaged_records.end());
    for (const auto& [id, delegates] : scratch) ids.insert(id);
    for (const auto& [id, record] : records) ids.insert(id);
    co_return std::vector<std::string>(ids.begin(), ids.end());
  }
  aio::Task<std::vector<StampedRecord>> list_stamped(std::string cni_dir) override {
    MNET_CO_TRY(const auto& ids, co_await list(std::move(cni_dir)));
    std::vector<StampedRecord> stamped;
    for (const std::string& id : ids) {
      const auto found = records.find(id);
      stamped.push_back({.container_id = id});
      if (found != records.end()) stamped.back().stamp = json::dump(found->second);
    }
    co_return stamped;
  }
  aio::Task<CacheOverview> list_results(std::string) override {
    ++listings;
    MNET_CO_TRY(auto&& listing, results_of(""));
    CacheOverview overview{.containers = {}, .unreadable = std::move(listing.unreadable)};
    for (cni::CacheEntry& entry : listing.entries) {
      if (overview.find(entry.container_id) == nullptr) {
        overview.containers.push_back(
            {entry.container_id, std::move(entry.netns), std::move(entry.cni_args), {}});
      }
      std::ranges::find(overview.containers, entry.container_id,
                        &cni::CachedContainer::container_id)
          ->attachments.push_back({std::move(entry.network), std::move(entry.ifname)});
    }
    co_return std::move(overview);
  }
  aio::Task<std::optional<std::string>> find_config(std::string, cni::CacheKey key) override {
    const auto found = results.find(name_of(key));
    if (found == results.end()) co_return std::optional<std::string>();
    co_return std::optional<std::string>(found->second.config);
  }
  aio::Task<std::vector<std::string>> sweep(std::string, std::vector<std::string> ids) override {
    std::vector<std::string> removed;
    for (const std::string& name : damaged_results) {
      const bool wanted = std::ranges::any_of(
          ids, [&](const std::string& id) { return name.contains(cat("-", id, "-")); });
      if (!wanted) removed.push_back(name);
    }
    for (const std::string& name : removed) damaged_results.erase(name);
    co_return removed;
  }

  aio::Task<void> edit_routes(std::string, cni::CacheKey key, model::RouteEdit edit) override {
    std::string line = cat("edit routes ", name_of(key));
    for (const AddressFamily family : edit.remove) line += cat(" -", FakeRoutes::name_of(family));
    for (const cni::IpAddress& gateway : edit.add) line += cat(" +", gateway.text());
    MNET_CO_TRY_VOID(act(std::move(line)));
    const auto found = results.find(name_of(key));
    if (found == results.end()) co_return Error(Errc::kNotFound, "no such entry");
    MNET_CO_TRY(auto&& result, cni::read_result(found->second.result.value_or(json::Object())));
    edit_result(result, edit);
    found->second.result = cni::to_json(result);
    unsynced.insert(name_of(key));
    co_return Result<void>();
  }

  aio::Task<AddStarted> begin_add(AddStart start) override {
    MNET_CO_TRY(auto&& seen, links_.look_now(start.netns, start.ifnames));
    AddStarted started{.seen = std::move(seen), .scratch = {}, .record = {}};
    if (!started.seen.taken.empty()) co_return started;
    started.scratch = write_scratch(start.cni_dir, start.container_id, start.delegates());
    if (!started.scratch) co_return started;
    started.record = keep_record(start.container_id, start.record(started.seen.netns));
    co_return started;
  }
  aio::Task<AddEnded> end_add(AddEnd end) override {
    AddEnded ended;
    if (auto result = end.result()) {
      ended.result = keep(*std::move(result), Durability::kDurable);
      if (!ended.result) co_return ended;
    }
    ended.synced = act("sync results");
    if (!ended.synced) co_return ended;
    for (const cni::CacheKey& key : end.in_place) unsynced.erase(name_of(key));
    if (end.record) ended.record = keep_record(end.container_id, end.record());
    co_return ended;
  }
  aio::Task<void> complete_add(std::string, std::string container_id,
                               std::function<json::Object()> record) override {
    co_return keep_record(container_id, record());
  }
  const std::string& dir() const { return dir_; }

  std::map<std::string, json::Array> scratch;   // by container id
  std::map<std::string, std::size_t> weights;   // of a container's files; others weigh nothing
  std::set<std::string> damaged;                // container ids
  std::map<std::string, json::Object> records;  // attachment records, by container id
  std::set<std::string> damaged_records;        // container ids
  // Files that are there and cannot be read: scratch files, attachment records.
  std::optional<Error> scratch_error, find_record_error;
  std::optional<Error> list_error;
  int listings = 0;                   // of all results
  int record_loads = 0;               // of one container's record, with what else is asked for
  std::optional<Error> record_error;  // of the record's part of begin_add and end_add

 private:
  Result<void> write_scratch(const std::string& cni_dir, const std::string& container_id,
                             json::Array delegates) {
    MNET_TRY_VOID(act(cat("write scratch ", container_id)));
    dir_ = cni_dir;
    scratch[container_id] = std::move(delegates);
    unsynced.insert(container_id);
    return {};
  }
  Result<void> sync_scratch(const std::string& container_id) {
    auto done = act(cat("sync scratch ", container_id));
    if (done) unsynced.erase(container_id);
    return done;
  }
  Result<std::optional<json::Array>> find_scratch(const std::string& container_id) {
    if (read_error) return *read_error;
    if (scratch_error) return *scratch_error;
    if (damaged.contains(container_id)) return Error(Errc::kProtocol, "damaged");
    const auto found = scratch.find(container_id);
    if (found == scratch.end()) return std::optional<json::Array>();
    return std::optional<json::Array>(found->second);
  }
  Result<CacheListing> results_of(const std::string& container_id) {
    if (read_error) return *read_error;
    if (list_error) return *list_error;
    CacheListing listing;
    for (const auto& [name, entry] : results) {
      if (!container_id.empty() && entry.container_id != container_id) continue;
      const auto failure = result_errors.find(name);
      if (failure == result_errors.end()) {
        listing.entries.push_back(entry);
      } else {
        listing.unreadable.add(failure->second);
      }
    }
    return listing;
  }
  Result<std::optional<json::Object>> find_record(const std::string& container_id) {
    if (read_error) return *read_error;
    if (find_record_error) return *find_record_error;
    if (damaged_records.contains(container_id)) return Error(Errc::kProtocol, "damaged");
    const auto found = records.find(container_id);
    if (found == records.end()) return std::optional<json::Object>();
    return std::optional<json::Object>(found->second);
  }
  Result<void> keep_record(const std::string& container_id, json::Object record) {
    if (record_error) return *record_error;
    damaged_records.erase(container_id);
    records[container_id] = std::move(record);
    return {};
  }

  FakeLinks& links_;
  std::string dir_;
};

class FakePendingDels : public PendingDels {
 public:
  aio::Task<bool> keep(std::string, std::string container_id, std::string ifname,
                       std::string body) override {
    if (error) co_return *error;
    std::string& kept = bodies[cat(container_id, "-", ifname)];
    co_return std::exchange(kept, body) != body;
  }

  std::map<std::string, std::string> bodies;
  std::optional<Error> error;
};

// One node. Outlives whatever uses its ports.
struct FakeNode {
  Calls calls;
  FakeNetworks networks;
  FakeLinks links;
  FakeReadiness readiness;
  FakePlugins plugins{calls, links.namespaces};
  FakeRoutes routes{calls};
  FakeRecords records{calls, links};
  FakeDeviceInfos device_infos;
  FakeSource source{calls};
  FakeDevices devices;
  FakeRoom room;
  FakeOwedStatuses owed{calls};
  FakePendingDels pending;

  Ports ports() {
    return {.networks = networks,
            .plugins = plugins,
            .links = links,
            .routes = routes,
            .readiness = readiness,
            .records = records,
            .results = records,
            .device_infos = device_infos,
            .pending = &pending,
            .link_names = &links};
  }
  // The same with a cluster behind it.
  Ports cluster_ports() {
    Ports all = ports();
    all.source = &source;
    all.devices = &devices;
    return all;
  }
  // The same with `owed` after the answers.
  Ports owing_ports() {
    Ports all = cluster_ports();
    all.owed = &owed;
    return all;
  }

  // The plugin runs among the calls, without the records.
  std::vector<std::string> runs() const {
    std::vector<std::string> lines;
    for (const std::string& line : calls) {
      if (line[0] >= 'A' && line[0] <= 'Z') lines.push_back(line);
    }
    return lines;
  }
};

}  // namespace mnet::attach
