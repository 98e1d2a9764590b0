#include "settings/log_settings.h"

#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/log_level.h"
#include "base/text.h"
#include "json/fields.h"
#include "json/json.h"
#include "model/netconf.h"

namespace mnet::settings {

LogLevel level_of(const LogSettings& settings, std::vector<std::string>& complaints) {
  std::string complaint;
  const LogLevel level = choose_log_level(settings.log_level, complaint);
  if (!complaint.empty()) complaints.push_back(std::move(complaint));
  return level;
}

void read_log_settings(json::Fields& fields, LogSettings& settings) {
  fields.read("logFile", settings.log_file);
  fields.read("logLevel", settings.log_level);
  fields.read("logToStderr", settings.log_to_stderr);
  fields.object("logOptions", [&](const json::Object& object, std::string path) {
    return model::read_log_options(object, std::move(path), settings.log_options.emplace());
  });
  std::string format;
  fields.read("logFormat", format);
  if (format == "json") {
    settings.log_format = LogFormat::kJson;
  } else if (!format.empty() && format != "text") {
    fields.fail("logFormat", cat("expected \"text\" or \"json\", got ", go_quoted(format)));
  }
}

}  // namespace mnet::settings
