// Goes through the records of a node at the start of the daemon and then periodically: interrupted
// ADDs and DELs are rolled back or finished, records of containers that are gone are deleted
// through their plugins. A DEL that fails becomes a pending DEL, whose replay tries again. Lives on
// the event loop.
#pragma once

#include <chrono>
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

#include "aio/event.h"
#include "aio/group.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "base/backoff.h"
#include "base/error.h"
#include "base/log.h"
#include "cni/cache.h"
#include "model/attachment_record.h"
#include "upkeep/decision.h"
#include "upkeep/rule.h"

namespace mnet::upkeep {

// What upkeep needs of the program around it.
class Node {
 public:
  virtual ~Node() = default;
  // The directories that hold records.
  virtual std::set<std::string> directories() const = 0;
  // The containers with an attachment record, the oldest first.
  virtual aio::Task<std::vector<std::string>> list_records(std::string cni_dir) = 0;
  // Names of the pending DELs' files.
  virtual aio::Task<std::vector<std::string>> list_pending(std::string cni_dir) = 0;
  // The same of those that were set aside, because they are damaged.
  virtual aio::Task<std::vector<std::string>> list_set_aside(std::string cni_dir) = 0;
  // Whether a process of thin multus works on the container: a node that changes from thin to thick
  // has some that began before.
  virtual aio::Task<bool> is_in_work(std::string cni_dir, std::string container_id) = 0;
  // Whether a pod that is not in the store is known not to exist.
  virtual bool knows_pods() const = 0;
  // The pod that the record is about.
  virtual PodState find_pod(const model::AttachmentRecord& record) const = 0;
  // Inodes of the network namespaces that processes are in, as far as processes can be seen. An
  // error if that is not known.
  virtual aio::Task<std::set<std::uint64_t>> list_used_namespaces() = 0;
  // Whether we see namespaces as the host has them.
  virtual bool sees_host() const = 0;
  // The DEL of a container, as the runtime would send it. Uses only those parts of the record that
  // concern the whole container.
  virtual Result<attach::Request> make_del(const std::string& cni_dir,
                                           const model::AttachmentRecord& record,
                                           const std::string& ifname) = 0;
  // Waits for a slot, after all other requests; the returned object gives it back.
  virtual aio::Task<std::shared_ptr<void>> take_turn(attach::Request request) = 0;
  // Counts a container that was finished, dropped or deleted, by the action's name.
  virtual void count(std::string_view action, bool succeeded) = 0;
};

struct Settings {
  Mode mode = Mode::kOn;
  std::chrono::milliseconds grace = std::chrono::minutes(10);
  std::chrono::milliseconds period = std::chrono::minutes(10);
};

class Upkeep {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  // All must outlive it, and it must outlive its tasks.
  Upkeep(attach::Attachments& core, Rule& rule, Node& node, Settings settings, Log log,
         Clock clock = std::chrono::steady_clock::now)
      : core_(core),
        rule_(rule),
        node_(node),
        settings_(settings),
        log_(std::move(log)),
        clock_(std::move(clock)) {}

  // Rounds until cancelled or stopped.
  aio::Task<void> run();
  // No further work begins; run() ends with what has begun.
  void stop();
  // One pass over all records, to the end of all that it finds to do.
  aio::Task<void> round();
  // The same at a person's request, with what it found. A rehearsal decides and changes nothing.
  enum class Extent : std::uint8_t { kAll, kRehearsal };
  struct Found {
    std::string container_id, pod_ns, pod_name;
    Action action;
    std::string_view reason;  // of static life
    std::optional<Error> failure = {};
  };
  aio::Task<std::vector<Found>> round_by_hand(Extent extent);

  // As of the last round: containers that seem to be gone and are still on record, and whether the
  // namespaces of running pods could be seen.
  std::size_t gone() const { return gone_; }
  bool sees_running_pods() const { return sees_running_pods_; }

 private:
  // One container on record, without what its networks were made with.
  struct Item {
    std::string cni_dir;
    model::AttachmentRecord record;
    std::string ifname = "eth0";         // of the cluster network
    bool has_record = true;              // else only the result cache knows of it
    std::vector<std::string> half_done;  // interfaces that were being plugged in or out
    Facts facts;
    std::string request_id = {};  // of the DEL that was made for it; empty: none was
  };
  using Items = std::vector<std::unique_ptr<Item>>;
  using Place = std::pair<std::string, std::string>;  // cniDir, container id
  class StillNeeded;

  // Namespaces are finished side by side: plugins may hang, and authors of pods choose them. One
  // whose last round is not over is left out.
  aio::Task<void> begin_round(aio::Group* work);
  aio::Task<void> finish(std::string ns, Items items);
  std::chrono::milliseconds pause();
  aio::Task<Items> look_everywhere();
  aio::Task<void> look(std::string cni_dir, Items* items);
  aio::Task<void> find_facts(Item* item);
  aio::Task<std::unique_ptr<Item>> read(std::string cni_dir, std::string container_id);
  aio::Task<void> find_cached(std::string cni_dir, std::vector<cni::CachedContainer> containers,
                              Items* items);
  using ByPod = std::map<std::string, std::vector<Item*>>;  // by UID
  // What processes say of namespaces: one that is not seen may be there, and one that is there may
  // have been left behind by a runtime that was killed before it started a process in it.
  aio::Task<void> find_processes(const Items* items);
  static void keep_used(const ByPod& living, const std::vector<Item*>& unseen,
                        std::set<std::uint64_t> used);
  static void find_empty(const ByPod& living, const std::set<std::uint64_t>& used);
  void compare(const Items& items);
  void note_gone(Item* item);
  aio::Task<void> act(Item* item, Decision decision);
  aio::Task<void> del(Item* item, Decision decision);
  aio::Task<void> drop(const Item* item, Decision decision);
  aio::Task<void> undo_half_done(Item* item);
  aio::Task<void> undo_half_done(Item* item, std::string ifname);
  // Looks again under the container's lock: time has passed since the decision.
  aio::Task<bool> is_still(const Item* item, Action action);
  void report(const Item& item, Decision decision);
  void tell_owner(const Item& item, Decision decision) const;

  attach::Attachments& core_;
  Rule& rule_;
  Node& node_;
  const Settings settings_;
  const Log log_;
  const Clock clock_;
  Random random_ = make_random();
  std::map<Place, std::chrono::steady_clock::time_point> first_seen_gone_;
  std::set<Place> reported_;
  std::set<std::string> busy_;  // namespaces that are being finished
  aio::Notifier finished_;      // one of them
  std::size_t gone_ = 0;
  bool sees_running_pods_ = true;
  aio::Event stop_;
};

}  // namespace mnet::upkeep
