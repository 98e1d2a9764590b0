// Which requests work on which container (02, 0.5): one at a time each, which ADDs run, and what a
// GC must leave alone.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "aio/keyed_lock.h"
#include "aio/task.h"
#include "chain/caller.h"
#include "model/netconf.h"

namespace mnet::attach {

class ContainerLocks;

class Containers {
 public:
  // `others`: what keeps other processes out; nullptr: there are none. Must outlive this.
  explicit Containers(ContainerLocks* others) : others_(others) {}
  Containers(const Containers&) = delete;
  Containers& operator=(const Containers&) = delete;

  struct Guard {
    aio::KeyedLock::Guard turn;
    std::shared_ptr<void> lock;
  };
  // Waits its turn, in order of arrival, then for other processes. Code 11 if that is not possible.
  aio::Task<Guard> lock(std::string container_id);
  // For a GC: no other process works on any container. The same error.
  aio::Task<std::shared_ptr<void>> lock_all();
  bool is_busy(const std::string& container_id) const;
  // None while a request works on any container; else a number that changes when one comes.
  std::optional<std::size_t> quiet_since() const;

  // An ADD that runs or waits for its turn; unregistered with this object.
  class RunningAdd {
   public:
    RunningAdd(Containers& containers, std::string container_id,
               std::shared_ptr<chain::Caller> caller);
    RunningAdd(const RunningAdd&) = delete;
    RunningAdd& operator=(const RunningAdd&) = delete;
    ~RunningAdd();
    // What it is about to attach: GC must count it as valid, its addresses may be reserved already.
    void plan(std::vector<model::AttachmentId> attachments) {
      place_->planned = std::move(attachments);
    }

   private:
    friend class Containers;
    struct Item {
      std::string container_id;
      std::shared_ptr<chain::Caller> caller;
      std::vector<model::AttachmentId> planned;
    };
    Containers& containers_;
    std::list<Item>::iterator place_;
  };
  // Every ADD of the container is told to end.
  void end_adds(const std::string& container_id);
  std::vector<model::AttachmentId> planned() const;

  // Notes every container that a request came for in its lifetime, even if it is done by the end,
  // and every ADD that ran already.
  class Witness {
   public:
    explicit Witness(Containers& containers);
    Witness(const Witness&) = delete;
    Witness& operator=(const Witness&) = delete;
    ~Witness();
    bool saw(const std::string& container_id) const;

   private:
    friend class Containers;
    Containers& containers_;
    std::set<std::string> seen_;
  };

 private:
  ContainerLocks* others_;
  aio::KeyedLock turns_;
  std::list<RunningAdd::Item> adds_;
  std::set<Witness*> witnesses_;
  std::size_t arrivals_ = 0;  // of requests so far
};

}  // namespace mnet::attach
