// attach's object source over a folder of manifests (00-index): pods and networks are what its
// files say, status and events are written beside them. No API server is involved.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/group.h"
#include "aio/task.h"
#include "attach/source.h"
#include "base/log.h"
#include "manifests/events.h"
#include "manifests/manifests.h"
#include "manifests/status.h"

namespace mnet::adapters {

struct FolderSettings {
  manifests::Timing timing = {};
  // Where statuses are written if the folder is read-only; empty: nowhere, that is an error.
  std::string status_dir = {};
  // Whether what an earlier process left is looked at, too: statuses of pods that went meanwhile.
  bool sweeps = false;
};

class FolderSource : public attach::ObjectSource {
 public:
  // Reads nothing yet. The pool must outlive this, and this must outlive its tasks.
  FolderSource(const aio::asio::any_io_executor& executor, const std::string& path,
               aio::BlockingPool& pool, Log log, FolderSettings settings = {});

  // Reads the folder and follows it until cancelled; to be started once, in a group. The status of
  // a pod that goes, or is replaced, goes with it, as the API's does.
  aio::Task<void> follow();
  // Until the folder was read, or found missing, for the first time.
  aio::Task<void> wait_loaded(aio::Deadline deadline) { return folder_.wait_loaded(deadline); }
  bool is_loaded() const { return folder_.is_loaded(); }
  // Until the events sent so far are written; kTimeout. To be awaited before this is destroyed.
  aio::Task<void> flush(aio::Deadline deadline);

  // On the folder's own events; nothing is polled. A folder that was never read cannot tell:
  // kUnavailable.
  aio::Task<model::PodObjectPtr> find_pod(attach::PodLookup lookup) override;
  bool is_complete() const override { return false; }
  // An unknown object is looked for once more in the files themselves, as a live read would.
  aio::Task<model::NetworkDefinitionPtr> find_network(attach::NetworkLookup lookup) override;
  std::optional<json::Count> count_network(const std::string& ns,
                                           const std::string& name) const override;
  aio::Task<void> write_status(model::PodObjectPtr pod, std::string text, Log log) override;
  aio::Task<std::optional<std::string>> find_status(model::PodObjectPtr pod) override;
  // Written by a thread of the pool, in the order they were sent. If more than
  // kMostWaiting wait for the disk, further ones are dropped, and the log says so.
  void send(attach::PodEvent event) override;

  void observe(attach::ObjectChanges changes) override { changes_ = std::move(changes); }

  // What is known at this moment.
  std::shared_ptr<const manifests::Snapshot> snapshot() const { return folder_.snapshot(); }

  static constexpr std::size_t kMostWaiting = 1000;

 private:
  aio::Task<void> loaded();
  aio::Task<void> forget_gone_pods();
  aio::Task<void> tell_changes();
  aio::Task<void> sweep_statuses();
  aio::Task<void> write_events();

  const std::string path_;
  const FolderSettings settings_;
  aio::BlockingPool& pool_;
  const Log log_;
  manifests::Folder folder_;
  manifests::StatusFiles status_;
  attach::ObjectChanges changes_;  // whom to tell of them; may be empty
  // In the hands of the pool while a batch is written, and shared with it: at the end a
  // slow disk is not waited for.
  std::shared_ptr<manifests::EventFile> events_;
  std::vector<manifests::Event> waiting_;
  std::size_t dropped_ = 0;
  bool is_writing_ = false;
  aio::Group writers_;
};

}  // namespace mnet::adapters
