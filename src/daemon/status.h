// What GET /status on the socket says about this node (docs/wire.md): the answers to the questions
// that people ask first, in one versioned JSON object. multusctl shows it.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "daemon/config.h"
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

// The present state; counts of records as of their last refresh. `plugins` is not included: that
// takes a look at the disk.
json::Object status_of(const Assembly& assembly);
// binDir as this process sees it; empty if it is in another mount namespace.
std::string plugins_path(const Config& config);
// The names in that directory, at most 1000. kNotFound if the path is empty. Blocks.
Result<std::vector<std::string>> names_in(const std::string& directory);

}  // namespace mnet::daemon
