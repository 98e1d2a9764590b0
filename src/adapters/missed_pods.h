// Pods that run without the networks they ask for (06, pain 3): the runtime started them while it
// had no configuration of ours. An event tells their owners; nothing is attached here.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/ports.h"
#include "attach/source.h"
#include "base/log.h"
#include "kube/kube.h"

namespace mnet::adapters {

class MissedPods {
 public:
  // Two looks this far apart must agree: what is being attached has its record or its status by
  // then.
  static constexpr std::chrono::milliseconds kGrace = std::chrono::seconds(10);

  // All must outlive it and its task.
  MissedPods(const kube::Store<model::PodObject>& pods, attach::Records& records,
             attach::ObjectSource& owners, Log log, std::chrono::milliseconds grace = kGrace)
      : pods_(pods), records_(records), owners_(owners), log_(std::move(log)), grace_(grace) {}

  // Once, when the store has been filled: a Warning for each such pod, and one line in the log.
  // A pod that has a network status, or a record below one of `cni_dirs`, is not one of them.
  aio::Task<void> look(std::set<std::string> cni_dirs);

  // How many of those that were found are still there and still without a status.
  std::size_t count() const;

 private:
  using Pods = std::vector<model::PodObjectPtr>;

  Pods suspects() const;
  bool is_suspect_still(const model::PodObject& pod) const;
  aio::Task<Pods> without_record(std::set<std::string> cni_dirs, Pods pods);
  void report() const;

  const kube::Store<model::PodObject>& pods_;
  attach::Records& records_;
  attach::ObjectSource& owners_;
  const Log log_;
  const std::chrono::milliseconds grace_;
  Pods found_;
};

}  // namespace mnet::adapters
