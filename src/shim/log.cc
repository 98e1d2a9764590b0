#include "shim/log.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/log_level.h"
#include "base/text.h"
#include "shim/config.h"
#include "skel/skel.h"
#include "sys/log_file.h"

namespace mnet::shim {
namespace {

LogLevel level_of(const LogSettings& settings, const skel::Front& front) {
  std::string complaint;
  const LogLevel level = choose_log_level(settings.level, complaint);
  if (!complaint.empty()) front.write_stderr(cat(complaint, "\n"));
  return level;
}

}  // namespace

Log open_log(std::string_view config, const skel::Front& front) {
  const LogSettings settings = parse_log_settings(config);
  std::vector<std::shared_ptr<LogTarget>> targets;
  std::optional<Error> unusable;
  if (settings.to_stderr) targets.push_back(stderr_target());
  if (!settings.file.empty()) {
    auto file = sys::open_log_file(settings.file);
    if (file) {
      targets.push_back(*std::move(file));
    } else {
      unusable = std::move(file).error();
    }
  }
  Log log(std::move(targets), level_of(settings, front));
  if (unusable) log.error("cannot log to file", *unusable);
  return log;
}

}  // namespace mnet::shim
