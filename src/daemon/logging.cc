#include "daemon/logging.h"

#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/log_options.h"
#include "daemon/config.h"
#include "daemon/status.h"
#include "logfile/log_files.h"
#include "logfile/rotation.h"
#include "settings/log_settings.h"

namespace mnet::daemon {
namespace {

// Compressing takes seconds and must not hold up requests; cut off by the end of the process it is
// done by the next one.
bool in_a_thread_of_its_own(std::function<void()> job) {
  try {
    std::thread(std::move(job)).detach();
  } catch (const std::system_error&) {  // the one way std::thread has to say EAGAIN
    return false;
  }
  return true;
}

// Handles shared by path among all requests that name one (02-F48). A file that only requests name
// is rotated as the daemon's own; its lines go to stderr too where the daemon's do.
class Files {
 public:
  Files(logfile::Rotation rotation, bool to_stderr)
      : files_({.report = {}, .background = in_a_thread_of_its_own}),
        rotation_(rotation),
        to_stderr_(to_stderr) {}

  std::vector<std::shared_ptr<LogTarget>> targets(const std::string& path) {
    std::vector<std::shared_ptr<LogTarget>> out;
    if (!path.empty()) out.push_back(files_.open(path, rotation_));
    if (to_stderr_) out.push_back(stderr_target());
    return out;
  }

 private:
  logfile::LogFiles files_;
  const logfile::Rotation rotation_;
  const bool to_stderr_;
};

}  // namespace

Logging make_logging(const Config& config) {
  Logging out;
  out.to_stderr = config.log_to_stderr.value_or(true);
  std::vector<std::string> warnings;
  const auto files = std::make_shared<Files>(
      logfile::rotation_of(config.log_options.value_or(LogOptions()), warnings), out.to_stderr);
  out.last_errors = std::make_shared<LastErrors>();
  const auto targets = [files, errors = out.last_errors](const std::string& path) {
    auto all = files->targets(path);
    all.push_back(errors);
    return all;
  };
  out.log =
      Log(targets(config.log_file), settings::level_of(config, out.complaints), config.log_format)
          .with_elsewhere(targets);
  for (const std::string& warning : warnings) out.log.warning(warning);
  return out;
}

}  // namespace mnet::daemon
