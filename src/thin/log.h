// Where the lines of the thin program go (02, 9).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/log.h"
#include "skel/skel.h"
#include "thin/config.h"

namespace mnet::thin {

// Compressing a log file that was put aside takes seconds: it is kept for the end, when the answer
// is given.
class CallLog {
 public:
  // As the configuration says; a call never fails because it cannot be logged.
  CallLog(const Config& config, const skel::Front& front);
  ~CallLog();
  CallLog(const CallLog&) = delete;
  CallLog& operator=(const CallLog&) = delete;

  const Log& log() const { return log_; }

 private:
  std::shared_ptr<std::vector<std::function<void()>>> later_;
  Log log_;
};

}  // namespace mnet::thin
