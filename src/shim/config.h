// What the shim reads from the configuration on its stdin (03, 3.2). All else is only carried on.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mnet::shim {

struct LogSettings {
  std::string file;
  std::string level;  // as written; empty: the default
  bool to_stderr = false;
};

struct Config {
  std::string cni_version;  // of the printed result; empty means 0.1.0
  std::string socket;       // path of the daemon's socket
  std::string cni_dir;
  std::optional<std::chrono::milliseconds> timeout;  // shimTimeout
  std::vector<std::string> complaints;  // keys of ours whose value was not used; for the log
};

// What becomes of a key whose value has a wrong type. DEL takes the default instead: what it
// deletes is on record, and the daemon has a configuration of its own.
enum class WrongKeys : std::uint8_t { kRefused, kIgnored };

// `failed to gather the multus configuration: …`. Of `cniDir` and `shimTimeout` a wrong type is
// only complained about.
Result<Config> parse_config(std::string_view text, WrongKeys wrong = WrongKeys::kRefused);

// What is usable of the logging keys. Never fails, so that a bad configuration can be logged.
LogSettings parse_log_settings(std::string_view text);

}  // namespace mnet::shim
