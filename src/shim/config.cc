#include "shim/config.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/fields.h"
#include "json/json.h"
#include "wire/wire.h"

namespace mnet::shim {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kFault = "failed to gather the multus configuration";

// Longer than any runtime waits, and far from overflowing a clock.
constexpr double kLongestTimeout = 1e6;

// One key by itself, so that a bad neighbour does not hide it.
template <typename T>
void read_alone(const json::Object& object, std::string_view key, T& out) {
  json::Fields fields(object);
  fields.read(key, out);
}

std::string read_cni_dir(const json::Object& object, Config& config) {
  std::string dir;
  json::Fields fields(object);
  fields.read("cniDir", dir);
  if (auto read = fields.done(); !read) config.complaints.push_back(read.error().text());
  return dir.empty() ? std::string(wire::kDefaultCniDir) : dir;
}

std::optional<milliseconds> read_timeout(const json::Object& object, Config& config) {
  std::optional<double> seconds;
  json::Fields fields(object);
  fields.read("shimTimeout", seconds);
  if (auto read = fields.done(); !read) {
    config.complaints.push_back(read.error().text());
    return std::nullopt;
  }
  if (!seconds) return std::nullopt;
  if (!(*seconds > 0)) {
    config.complaints.emplace_back("shimTimeout: expected a positive number of seconds");
    return std::nullopt;
  }
  const double bounded = std::min(*seconds, kLongestTimeout);
  return std::max(milliseconds(static_cast<milliseconds::rep>(bounded * 1000)), milliseconds(1));
}

}  // namespace

Result<Config> parse_config(std::string_view text, WrongKeys wrong) {
  const auto parsed = json::parse_object(text);
  if (!parsed) return parsed.error().wrap(kFault);
  const json::Object& object = *parsed;
  Config config;
  std::string socket_dir;
  LogSettings log;
  json::Fields fields(object);
  fields.read("cniVersion", config.cni_version);
  fields.read("daemonSocketDir", socket_dir);
  fields.read("logFile", log.file);
  fields.read("logLevel", log.level);
  fields.read("logToStderr", log.to_stderr);
  if (auto read = fields.done(); !read) {
    if (wrong == WrongKeys::kRefused) return read.error().wrap(kFault);
    config.complaints.push_back(read.error().text());
  }
  config.socket = wire::socket_path(socket_dir);
  config.cni_dir = read_cni_dir(object, config);
  config.timeout = read_timeout(object, config);
  return config;
}

LogSettings parse_log_settings(std::string_view text) {
  LogSettings settings;
  const auto object = json::parse_object(text);
  if (!object) return settings;
  read_alone(*object, "logFile", settings.file);
  read_alone(*object, "logLevel", settings.level);
  read_alone(*object, "logToStderr", settings.to_stderr);
  return settings;
}

}  // namespace mnet::shim
