#include "daemon/logging.h"

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/text.h"
#include "logfile/log_files.h"
#include "logfile/rotation.h"

namespace mnet::daemon {
namespace {

// Compressing takes seconds and must not hold up requests; cut off by the end of the process it is
// done by the next one.
void in_a_thread_of_its_own(std::function<void()> job) { std::thread(std::move(job)).detach(); }

}  // namespace

Logging make_logging(const Config& config) {
  Logging out;
  std::vector<std::shared_ptr<LogTarget>> targets;
  out.to_stderr = config.log_to_stderr.value_or(config.log_file.empty());
  std::vector<std::string> warnings;
  if (!config.log_file.empty()) {
    logfile::LogFiles files({.report = {}, .background = in_a_thread_of_its_own});
    targets.push_back(files.open(
        config.log_file,
        logfile::rotation_of(config.log_options.value_or(logfile::Options()), warnings)));
  }
  if (out.to_stderr) targets.push_back(stderr_target());

  LogLevel level = LogLevel::kPanic;
  if (const auto wanted = parse_log_level(config.log_level)) {
    level = *wanted;
  } else if (!config.log_level.empty()) {
    out.complaints.push_back(cat("multus logging: cannot set logging level to ", config.log_level));
  }
  out.log = Log(std::move(targets), level, config.log_format);
  for (const std::string& warning : warnings) out.log.warning(warning);
  return out;
}

}  // namespace mnet::daemon
