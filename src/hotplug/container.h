// The container of one hot-plug request: its pod, its records, and the interface that the request
// is about. Internal to hotplug.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "aio/task.h"
#include "attach/container_records.h"
#include "attach/core.h"
#include "attach/source.h"
#include "base/error.h"
#include "chain/chain.h"
#include "hotplug/job.h"
#include "model/attachment_record.h"

namespace mnet::hotplug {

// Whether this error of looking at a container's namespace says that there is none. Any other error
// says nothing about it.
bool is_no_namespace(const Error& error);

// The entries that an attachment has in the network status: one with an empty name if its result
// lists no interface (02, 2.4).
model::StaleStatus status_of(const model::RecordedAttachment& attachment);

class Container {
 public:
  // The core must outlive it. The container's lock is held while its tasks run.
  Container(attach::Core& given_core, Job given_job)
      : core(given_core), job(std::move(given_job)), access(core, job.base) {}
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;

  // Finds the pod that the request names, then calls load(). No pod: the container is not a pod, or
  // the source need not have an object for each pod.
  aio::Task<void> find();
  // Takes the pod's object as the API has it now; nullptr: it is gone. Yields whether it is
  // another.
  aio::Task<bool> take_newest_pod();
  // The pod with its annotations, once there is room for them.
  aio::Task<model::PodObjectPtr> read_whole(attach::PodLookup lookup);
  // Loads the container's records. Reconstructs the attachment record if there is none.
  aio::Task<void> load();
  // Runs CHECK with what the interface was made with, if that is recorded.
  aio::Task<void> check();

  const std::string& ifname() const { return job.base.request.ifname; }
  // nullptr if the interface is not recorded.
  model::RecordedAttachment* recorded() { return record.find(ifname()); }
  // Interfaces that `record` has and the attachment record on disk has not: another multus attached
  // them.
  std::set<std::string> reconstructed() const;
  // Removes it from the attachment record, which is not written yet.
  void drop();
  // Writes the attachment record; removes it if nothing is left and the container had no ADD of its
  // own.
  aio::Task<void> save();
  // Runs DEL of the plugins; an error unless all of it is gone.
  aio::Task<void> take_down(model::AttachmentPtr attachment);

  // The index of the interface's link, if such indexes are recorded; 0: not known.
  aio::asio::awaitable<std::uint64_t> find_link();

  // Whether we keep the network status because no client does (0018). Its failures never fail a
  // request.
  bool keeps_status() const;
  void note_status(const Result<void>& kept) const;

  Error failed(const Error& error) const;
  Error not_saved(Error error) const;  // the delegates

  // Reads a long annotation on a thread of the pool.
  aio::Task<std::set<std::string>> named_networks();

  attach::Core& core;
  Job job;
  attach::RecordAccess access;
  model::PodObjectPtr pod;
  bool has_newest_pod = false;  // it was read just now, not remembered
  attach::ContainerRecords records;
  model::AttachmentRecord record;
};

}  // namespace mnet::hotplug
