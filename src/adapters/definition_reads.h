// Network definitions for requests: from the store, else read from the API server. Requests that
// want the same one share a read, and a definition that is missing is not asked for again at once,
// so that pods that name what is not there cost the server little (03, 5.5).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "aio/event.h"
#include "aio/group.h"
#include "aio/task.h"
#include "aio/timer.h"
#include "attach/source.h"
#include "base/log.h"
#include "base/result.h"
#include "kube/definitions.h"
#include "kube/kube.h"

namespace mnet::adapters {

class DefinitionReads {
 public:
  static constexpr std::chrono::seconds kMissingFor{1};

  // All must outlive it.
  DefinitionReads(const aio::asio::any_io_executor& executor, kube::Api& api,
                  kube::Definitions& store, const kube::Reflector& watch, kube::Retries retries,
                  aio::Timer& timer, const Log& log)
      : api_(api),
        store_(store),
        watch_(watch),
        retries_(retries),
        timer_(timer),
        log_(log),
        running_(executor, log) {}

  // As ObjectSource::find_network. A read goes on without the caller.
  aio::Task<model::NetworkDefinitionPtr> find(attach::NetworkLookup lookup);

  // Until no read runs. To be awaited before this goes.
  aio::Task<void> wait_ended(aio::Deadline deadline) { return running_.join(deadline); }
  void cancel() { running_.cancel(); }

  std::uint64_t count() const { return count_; }

 private:
  struct Read;
  struct Wanted {
    std::string ns, name;
    // Of the first request that asked: the namespace of its pod, and its id.
    std::string asker, request_id;
  };

  aio::Task<model::NetworkDefinitionPtr> read(attach::NetworkLookup lookup);
  aio::Task<model::NetworkDefinitionPtr> shared_read(attach::NetworkLookup lookup);
  aio::Task<void> run(Wanted wanted, std::shared_ptr<Read> read);
  aio::Task<model::NetworkDefinitionPtr> fetch(Wanted wanted);
  aio::Task<model::NetworkDefinitionPtr> fetch_once(Wanted wanted);
  // Whether it was missing a moment ago and the watch, which is up, has not brought it since.
  bool is_missing(const std::string& ns, const std::string& name) const;
  void note_missing(const std::string& key);
  std::string version_of(const std::string& ns, const std::string& name) const;

  kube::Api& api_;
  kube::Definitions& store_;
  const kube::Reflector& watch_;
  const kube::Retries retries_;
  aio::Timer& timer_;
  const Log log_;
  std::unordered_map<std::string, std::shared_ptr<Read>> reads_;                    // by key
  std::unordered_map<std::string, std::chrono::steady_clock::time_point> missing_;  // since when
  std::uint64_t count_ = 0;
  aio::Group running_;
};

}  // namespace mnet::adapters
