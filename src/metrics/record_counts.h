// Counts what is stored about the node's containers: files below the cniDirs, counted when a client
// asks for metrics. Lives on the event loop.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>

#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "store/store.h"

namespace mnet::metrics {

class RecordCounts {
 public:
  // The pool must outlive it. `directories`: the cniDirs of this moment.
  RecordCounts(aio::BlockingPool& pool, std::function<std::set<std::string>()> directories)
      : pool_(pool), directories_(std::move(directories)) {}

  // Counts anew, unless another task is counting: however often the page is requested, it keeps at
  // most one thread of the pool busy.
  aio::Task<void> refresh();
  const store::Counts& numbers() const { return numbers_; }

 private:
  aio::BlockingPool& pool_;
  std::function<std::set<std::string>()> directories_;
  store::Counts numbers_;
  bool is_counting_ = false;
};

}  // namespace mnet::metrics
