// Log lines as the original writes them: `<RFC 3339 time> [<level>] <message>`, one write per line.
//
// A Log is a small value: copies share its targets. Each request gets a copy of its own with its id
// and, if its configuration asks for one, its own level; no request can change the log of another.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace mnet {

enum class LogLevel : std::uint8_t { kPanic, kError, kVerbose, kDebug };
enum class LogFormat : std::uint8_t { kText, kJson };

// "debug", "verbose", "error", "panic" in any letter case.
std::optional<LogLevel> parse_log_level(std::string_view text);

// Where lines go. One call is one whole line, newline included; the target must write it in one
// piece.
class LogTarget {
 public:
  virtual ~LogTarget() = default;
  virtual void write(std::string_view line) = 0;
};

// Standard error. A closed one is ignored.
std::shared_ptr<LogTarget> stderr_target();

class Log {
 public:
  // Writes nothing.
  Log() = default;
  Log(std::vector<std::shared_ptr<LogTarget>> targets, LogLevel level,
      LogFormat format = LogFormat::kText, const WallClock* clock = &WallClock::system());

  // A copy whose lines end in ` request=<id>` (JSON: have the member `request`).
  Log with_request(std::string id) const;
  Log with_level(LogLevel level) const;
  // A copy whose with_file() can open other files: `elsewhere` yields the targets for a path. It
  // may be called from any thread.
  using Elsewhere = std::function<std::vector<std::shared_ptr<LogTarget>>(const std::string& path)>;
  Log with_elsewhere(Elsewhere elsewhere) const;
  // A copy that writes to the file of that path (02, 9, "Scope"). With an empty path, or without
  // with_elsewhere(), the same log.
  Log with_file(const std::string& path) const;
  // A copy that writes somewhere else.
  Log with_targets(std::vector<std::shared_ptr<LogTarget>> targets) const;

  bool writes(LogLevel level) const { return level <= level_ && !targets_.empty(); }

  void error(std::string_view message) const;
  void error(std::string_view doing, const Error& why) const;
  // An error-level line that begins with `warning: `.
  void warning(std::string_view message) const;
  void verbose(std::string_view message) const;
  void debug(std::string_view message) const;
  // A verbose or error line that tools compare word for word: no request id follows it.
  void verbatim(LogLevel level, std::string_view message) const;

 private:
  void write(LogLevel level, std::string_view message, bool with_id) const;

  std::vector<std::shared_ptr<LogTarget>> targets_;
  LogLevel level_ = LogLevel::kPanic;
  LogFormat format_ = LogFormat::kText;
  std::string request_;
  std::shared_ptr<const Elsewhere> elsewhere_;
  const WallClock* clock_ = &WallClock::system();
};

}  // namespace mnet
