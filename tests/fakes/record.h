// The record of fake-delegate's calls: one JSON object per line, appended in one write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mnet::fakes {

struct Call {
  std::string command;
  std::string network = {};  // the name in the configuration
  std::vector<std::string> argv;
  std::string_view stdin_bytes = {};
};

// {"command", "network", "argv", "cwd", "env": [...], "stdin": base64, "descriptors": [...],
//  "blocked_signals", "ignored_signals", "pid", "group", "time_ns"}
void record_call(const std::string& path, const Call& call);
// {"ended": true, "command", "pid", "time_ns"}
void record_end(const std::string& path, const std::string& command);

// Calls of that command for that network in the record.
std::int64_t count_calls(const std::string& path, const std::string& command,
                         const std::string& network);

}  // namespace mnet::fakes
