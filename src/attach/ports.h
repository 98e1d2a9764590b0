// Where attach meets the world: narrow interfaces, fulfilled by adapters and, in tests, by the
// fakes of attach/fake_ports.h. The object source has a header of its own. All calls come from the
// event loop, many at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aio/task.h"
#include "attach/room.h"
#include "attach/source.h"
#include "base/address_family.h"
#include "base/error_list.h"
#include "base/netns_id.h"
#include "chain/plugins.h"
#include "chain/results.h"
#include "cni/address.h"
#include "cni/cache.h"
#include "cni/conf.h"
#include "json/json.h"
#include "model/attachment.h"
#include "model/default_routes.h"
#include "model/delegate.h"
#include "model/objects.h"

namespace mnet::aio {
class BlockingPool;
}  // namespace mnet::aio

namespace mnet::attach {

// Where configurations of networks come from.
class Networks {
 public:
  virtual ~Networks() = default;
  // A configuration given as a path: directory, .conflist or other file (02, 3.3 d to f). Multus's
  // own types are refused, that of the node's own configuration (`own_type`) among them.
  virtual aio::Task<model::Delegate> by_path(std::string path, std::string own_type) = 0;
  // The configuration with this CNI name in `conf_dir` (02, 3.5). kNotFound if there is none: the
  // error then tells of every file that could not be read.
  virtual aio::Task<model::Delegate> by_name(std::string conf_dir, std::string name) = 0;
  // The plugins of the auxiliary chain `name` beside `path`, or in it if it is a directory (02,
  // 3.9), without the passthru that heads the chain.
  virtual aio::Task<std::vector<cni::PluginConf>> auxiliary_plugins(std::string path,
                                                                    std::string name) = 0;
};

// What one visit to a namespace finds.
struct TakenNames {
  NetnsId netns;
  std::vector<std::string> taken;  // those of the asked names that links have, in their order
};

// The pod's network namespace.
class Links {
 public:
  virtual ~Links() = default;
  // An error if the namespace cannot be used: `no net namespace <path> found`.
  virtual aio::Task<TakenNames> look(std::string netns, std::vector<std::string> ifnames) = 0;
};

// A link in a namespace, whatever it is called.
struct Link {
  std::string name;
  std::uint64_t index = 0;
};

// Links by their index: others may rename what a plugin made (kubevirt#14074).
class LinkNames {
 public:
  virtual ~LinkNames() = default;
  // All links of the namespace; errors as of Links::look().
  virtual aio::Task<std::vector<Link>> list(std::string netns) = 0;
  virtual aio::Task<void> rename(std::string netns, std::uint64_t index, std::string name) = 0;
};

// Default routes in the main table of a pod's network namespace (02, 5.4). Each call is one visit
// to the namespace.
class Routes {
 public:
  virtual ~Routes() = default;
  // Whether `ifname` has one of that family; false without such a link.
  virtual aio::Task<bool> has_default(std::string netns, std::string ifname,
                                      AddressFamily family) = 0;
  // All of `ifname` and that family, each exactly as it is listed; those already gone are fine, and
  // so is a link that is not there.
  virtual aio::Task<void> remove_defaults(std::string netns, std::string ifname,
                                          AddressFamily family) = 0;
  // The one via `gateway` on `ifname`. One that is there already is fine; another of the same
  // metric gives way if it is on one of `own_ifnames`.
  virtual aio::Task<void> add_default(std::string netns, std::string ifname, cni::IpAddress gateway,
                                      std::vector<std::string> own_ifnames) = 0;
};

// Device-info files (02, 4.6), by the path that plugins get as CNIDeviceInfoFile.
class DeviceInfos {
 public:
  virtual ~DeviceInfos() = default;
  // The device plugin's file, if there is a valid one, to `path`.
  virtual aio::Task<void> copy(std::string resource_name, std::string device_id,
                               std::string path) = 0;
  // None if there is no file; an error if it is not valid.
  virtual aio::Task<std::optional<json::Object>> find(std::string path) = 0;
  virtual aio::Task<void> remove(std::string path) = 0;
};

// Devices that the kubelet or a DRA driver allocated to a pod (02, 8).
class Devices {
 public:
  virtual ~Devices() = default;
  // Ids by resource name in the order of 02, 8.1; one may come twice. `request_uid`: the request's
  // own, which also fits static pods (02, 8.3). `log`: that of the request.
  virtual aio::Task<std::map<std::string, std::vector<std::string>>> allocated(
      model::PodObjectPtr pod, std::string request_uid, Log log) = 0;
  // Whether a resource of which the pod has no id is one of devices (02, 8.1); an error if that
  // is unknown now.
  virtual aio::Task<bool> is_device(model::PodObjectPtr pod, std::string resource_name,
                                    Log log) = 0;
  // Where the devices come from, for errors: `kubelet
  // (/var/lib/kubelet/pod-resources/kubelet.sock)`.
  virtual std::string name() const = 0;
};

// Files of others that say whether the node is ready.
class ReadinessIndicator {
 public:
  virtual ~ReadinessIndicator() = default;
  // Whether a file of any kind is there; an error if that is unknown.
  virtual aio::Task<bool> exists(std::string path) = 0;
};

struct CacheListing {
  std::vector<cni::CacheEntry> entries;  // in byte order of their file names
  ErrorList unreadable;                  // of files that may be entries and cannot be read
};

struct CacheOverview {
  std::vector<cni::CachedContainer> containers;
  ErrorList unreadable;  // the same

  // nullptr if there is nothing of it.
  const cni::CachedContainer* find(const std::string& container_id) const {
    const auto found =
        std::ranges::find(containers, container_id, &cni::CachedContainer::container_id);
    return found == containers.end() ? nullptr : &*found;
  }
};

// How an ADD begins and ends, each as one visit to disk and namespace: an ADD counts every one.
// What is to be written is made there, off the event loop, and one after the other: each function
// is called at most once, on any thread, while the code that awaits the call changes nothing that
// it reads.
struct AddStart {
  std::string cni_dir, container_id, netns;
  std::vector<std::string> ifnames;        // names that no link in `netns` may have
  std::function<json::Array()> delegates;  // for the scratch file
  std::function<json::Object(const NetnsId&)> record;
};

struct AddStarted {
  TakenNames seen;               // a name is taken: nothing was written
  Result<void> scratch, record;  // whether each is in place; without the first there is no second
};

struct AddEnd {
  std::string cni_dir, container_id;
  std::vector<cni::CacheKey> in_place;                     // results that only need a sync
  std::function<std::optional<cni::CacheEntry>()> result;  // one that is not written yet
  std::function<json::Object()> record;  // none: that of begin_add() only needs a sync, too
};

struct AddEnded {
  Result<void> result;  // of writing the last one; without it nothing else is done
  Result<void> synced, record;
};

// The files of one container. An error of a part says that the file is damaged (is_damage()), or
// else nothing about it: never that there is none.
struct StoredRecords {
  Result<std::optional<json::Array>> scratch = std::optional<json::Array>();
  Result<CacheListing> results = CacheListing();  // damaged entries are left out
  // The attachment record (05, 3.2); model/attachment_record.h says what it means.
  Result<std::optional<json::Object>> record = std::optional<json::Object>();
  // What all of it weighs (model::Weight), if that is more than was asked for: nothing was loaded.
  std::optional<std::size_t> too_heavy = {};
};

// Which of them to load.
enum class RecordParts : std::uint8_t {
  kAll,
  kOfEarlierAdd,  // all if there may be a scratch file, else the attachment record
  kRecord,        // the attachment record
};

struct RecordsToSave {
  std::optional<json::Array> scratch = {};
  std::optional<json::Object> record = {};
};

// What a call that writes or removes both did to each.
struct RecordsDone {
  Result<void> scratch, record;
};

// A container with files. Its attachment record says the same as long as `stamp` does; empty: it
// has none, or it has just been written.
struct StampedRecord {
  std::string container_id;
  std::string stamp = {};
};

// What is remembered of a container between ADD and DEL, under the request's cniDir. Each file
// changes atomically: a reader sees the old one or the new one. What ADD writes is in place when
// the call ends and durable then or when the sync ends (00-index, "Durable when").
class Records {
 public:
  virtual ~Records() = default;

  // Links::look(), and if all names are free scratch file and record, in place. An error if the
  // namespace cannot be used.
  virtual aio::Task<AddStarted> begin_add(AddStart start) = 0;
  // The scratch file and these results become durable.
  virtual aio::Task<void> sync(std::string cni_dir, std::string container_id,
                               std::vector<cni::CacheKey> results) = 0;
  // All results and the record, durable.
  virtual aio::Task<AddEnded> end_add(AddEnd end) = 0;
  // The record of an ADD whose end_add() had none, in place: where a power cut undoes it, the
  // results say that the ADD was complete.
  virtual aio::Task<void> complete_add(std::string cni_dir, std::string container_id,
                                       std::function<json::Object()> record) = 0;

  // Quick for a container that has nothing of the kind, but for kAll. `most`: what they may weigh.
  virtual aio::Task<StoredRecords> load(std::string cni_dir, std::string container_id,
                                        RecordParts parts, std::size_t most) = 0;
  // Durable. The record first; a failure of one does not keep the other from being written.
  virtual aio::Task<RecordsDone> save(std::string cni_dir, std::string container_id,
                                      RecordsToSave what) = 0;
  // The attachment record no longer says that the network status is owed. In place: where a power
  // cut undoes it, the status is written once more. No record is fine.
  virtual aio::Task<void> settle_status(std::string cni_dir, std::string container_id) = 0;
  // Scratch file and record. The scratch file goes last, even if the record stays (05, 3.2). What
  // was removed of the container's results is durable then, too.
  virtual aio::Task<RecordsDone> remove(std::string cni_dir, std::string container_id) = 0;
  // Default routes of one cached result (02, 5.4): those of `edit.remove` go, then the gateways
  // come. In place; no such entry is an error.
  virtual aio::Task<void> edit_routes(std::string cni_dir, cni::CacheKey key,
                                      model::RouteEdit edit) = 0;

  // The containers with a scratch file or an attachment record; sorted.
  virtual aio::Task<std::vector<std::string>> list(std::string cni_dir) = 0;
  // The same, without reading any of them again that has not changed.
  virtual aio::Task<std::vector<StampedRecord>> list_stamped(std::string cni_dir) = 0;
  // What the result cache holds of all containers (01, 6.5).
  virtual aio::Task<CacheOverview> list_results(std::string cni_dir) = 0;
  // The configuration in one of them; none if there is no such entry.
  virtual aio::Task<std::optional<std::string>> find_config(std::string cni_dir,
                                                            cni::CacheKey key) = 0;
  // Removes files of the result cache that are damaged and whose name holds `-<id>-` for none
  // of `ids`; yields their names (02, 7.3).
  virtual aio::Task<std::vector<std::string>> sweep(std::string cni_dir,
                                                    std::vector<std::string> ids) = 0;
};

// A network status that its ADD did not wait for.
struct OwedStatus {
  std::string cni_dir, container_id;
  model::PodObjectPtr pod = {};
  std::string text = {};  // empty: as the attachment record has it
  std::string request_id = {};
};

// Writes network statuses after the answers of their ADDs. That a status is owed stands in the
// attachment record, which is durable by then (05, 3.11).
class OwedStatuses {
 public:
  virtual ~OwedStatuses() = default;
  // Neither waits nor fails.
  virtual void owe(OwedStatus status) = 0;
  // The container goes: what is owed for it is not written any more.
  virtual void forget(const std::string& container_id) = 0;
  // Another container writes the pod's status now: what is owed is dropped, so as not to overwrite
  // it.
  virtual void forget_pod(const model::PodObject& pod) = 0;
};

// DELs that must be repeated (03, 2.14).
class PendingDels {
 public:
  virtual ~PendingDels() = default;
  // Durable when this ends. True if it is new: one that says the same stays as it is, with its age.
  virtual aio::Task<bool> keep(std::string cni_dir, std::string container_id, std::string ifname,
                               std::string body) = 0;
};

// Judges DELs that the runtime did not just ask for: time has passed, and what they would delete
// may be in other hands.
class DelRule {
 public:
  virtual ~DelRule() = default;
  // Whether there is still something to do; asked when the container is ours, before anything runs.
  virtual aio::Task<bool> is_needed(std::string cni_dir, std::string container_id) = 0;
  // For each of these networks of the container, in the same order: what may be run, or why it must
  // not be run now. An error: nothing may.
  using Verdicts = std::vector<Result<model::AttachmentPtr>>;
  // Whether the runtime has said that a container is gone, so that it holds nothing. None: it has
  // said so of none.
  using IsGone = std::function<bool(const std::string& container_id)>;
  virtual aio::Task<Verdicts> judge(std::string cni_dir, std::vector<model::AttachmentPtr> networks,
                                    IsGone is_gone) = 0;
};

// Keeps other processes from the containers that this one works on: while one daemon takes over
// from another, both serve (03, 2.4).
class ContainerLocks {
 public:
  virtual ~ContainerLocks() = default;
  // Waits until no other process works on the container. None does until what this yields goes.
  virtual aio::Task<std::shared_ptr<void>> lock(std::string container_id) = 0;
  // The same for every container, for a GC. kUnavailable if another process stays too long.
  virtual aio::Task<std::shared_ptr<void>> lock_all() = 0;
};

// They must outlive what uses them.
struct Ports {
  Networks& networks;
  chain::Plugins& plugins;
  Links& links;
  Routes& routes;
  ReadinessIndicator& readiness;
  Records& records;
  chain::Results& results;
  DeviceInfos& device_infos;
  ObjectSource* source = nullptr;     // none: only what the configuration says (02, 3.2)
  OwedStatuses* owed = nullptr;       // none: every ADD waits for its status
  Devices* devices = nullptr;         // none: no network gets a device
  PendingDels* pending = nullptr;     // none: what a DEL leaves is its caller's to repeat
  aio::BlockingPool* pool = nullptr;  // for long texts; none: they are read on the event loop
  Room* room = nullptr;               // none: no bound, for a program that serves one request
  LinkNames* link_names = nullptr;    // none: indexes of links are not recorded
  ContainerLocks* locks = nullptr;    // none: no other process works on the same containers
  // For DELs that a request only implies: of an earlier ADD, of a GC. None: all may run.
  DelRule* rule = nullptr;
};

}  // namespace mnet::attach
