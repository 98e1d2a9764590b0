#include "thin/log.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/log_options.h"
#include "base/text.h"
#include "logfile/log_files.h"
#include "logfile/rotation.h"
#include "settings/log_settings.h"
#include "skel/skel.h"
#include "thin/config.h"

namespace mnet::thin {

CallLog::CallLog(const Config& config, const skel::Front& front)
    : later_(std::make_shared<std::vector<std::function<void()>>>()) {
  std::vector<std::shared_ptr<LogTarget>> targets;
  std::vector<std::string> warnings;
  if (!config.log_file.empty()) {
    auto keep = [later = later_](std::function<void()> job) {
      later->push_back(std::move(job));
      return true;
    };
    logfile::LogFiles files({.report = {}, .background = std::move(keep)});
    targets.push_back(
        files.open(config.log_file,
                   logfile::rotation_of(config.log_options.value_or(LogOptions()), warnings)));
  }
  if (config.log_to_stderr.value_or(true)) targets.push_back(stderr_target());
  std::vector<std::string> complaints;
  log_ = Log(std::move(targets), settings::level_of(config, complaints), config.log_format);
  for (const std::string& complaint : complaints) front.write_stderr(cat(complaint, "\n"));
  for (const std::string& warning : warnings) log_.warning(warning);
}

CallLog::~CallLog() {
  for (const auto& job : std::exchange(*later_, {})) job();
}

}  // namespace mnet::thin
