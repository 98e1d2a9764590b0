// How much the node remembers of its containers: files below the cniDirs, counted when somebody
// asks for metrics. Lives on the event loop.
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "store/store.h"

namespace mnet::daemon {

class RecordCounts {
 public:
  // The pool must outlive it. `directories`: the cniDirs of this moment.
  RecordCounts(aio::BlockingPool& pool, std::function<std::set<std::string>()> directories)
      : pool_(pool), directories_(std::move(directories)) {}

  // Counts anew; at once if somebody else does so already, or did less than `kAge` ago: a page
  // that is asked for too often costs no more than its text.
  aio::Task<void> refresh();
  const store::Counts& numbers() const { return numbers_; }

  static constexpr auto kAge = std::chrono::milliseconds(200);

 private:
  aio::BlockingPool& pool_;
  std::function<std::set<std::string>()> directories_;
  store::Counts numbers_;
  bool is_counting_ = false;
  std::chrono::steady_clock::time_point counted_{};
};

}  // namespace mnet::daemon
