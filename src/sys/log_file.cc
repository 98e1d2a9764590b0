#include "sys/log_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "sys/fd.h"

namespace mnet::sys {
namespace {

class LogFile final : public LogTarget {
 public:
  explicit LogFile(UniqueFd fd) : fd_(std::move(fd)) {}

  void write(std::string_view line) override {
    // O_APPEND keeps lines of several writers whole.
    [[maybe_unused]] const auto written = ::write(fd_.get(), line.data(), line.size());
  }

 private:
  UniqueFd fd_;
};

}  // namespace

Result<std::shared_ptr<LogTarget>> open_log_file(const std::string& path) {
  // O_NONBLOCK: a FIFO without a reader is an error, not a hang.
  UniqueFd fd(::open(path.c_str(),
                     O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600));
  if (!fd) return Error::from_errno(errno, cat("open ", path));
  return std::shared_ptr<LogTarget>(std::make_shared<LogFile>(std::move(fd)));
}

}  // namespace mnet::sys
