// What GET /status on the socket tells of this node (docs/wire.md): the answers to the questions
// that people ask first, in one versioned JSON object. multusctl shows it.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "json/json.h"

namespace mnet::daemon {

class Assembly;

// The last error lines of the log, for /status. Any thread may write.
class LastErrors final : public LogTarget {
 public:
  static constexpr std::size_t kMost = 10;
  void write(std::string_view line) override;
  std::vector<std::string> lines() const;

 private:
  mutable std::mutex mutex_;
  std::deque<std::string> lines_;  // the newest last
};

// As of now; the counts of records as of their last refresh.
json::Object status_of(const Assembly& assembly);

}  // namespace mnet::daemon
