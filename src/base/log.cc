#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"

namespace mnet {
namespace {

// Of a line above `debug`. A plugin chooses how long its error is, and a tenant how often it fails:
// its lines must not drive those of others out of a log that is rotated by its size.
constexpr std::size_t kMostOfLine = 16u << 10;

class StderrTarget final : public LogTarget {
 public:
  void write(std::string_view line) override {
    // A failure to write the log cannot be reported anywhere.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  }
};

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::kPanic:
      return "panic";
    case LogLevel::kError:
      return "error";
    case LogLevel::kVerbose:
      return "verbose";
    case LogLevel::kDebug:
      return "debug";
  }
  return "error";
}

void append_json_text(std::string& out, std::string_view text, std::size_t most) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const std::string_view rest = text.substr(std::min(most, text.size()));
  text.remove_suffix(rest.size());
  out += '"';
  while (!text.empty()) {
    const CodePoint c = decode_utf8(text);
    if (c.value == '"' || c.value == '\\') {
      out += '\\';
      out += text[0];
    } else if (c.value == '\n') {
      out += "\\n";
    } else if (c.value < 0x20 || (c.value >= 0x7F && c.value < 0xA0)) {
      out += "\\u00";
      out += kHex[c.value >> 4];
      out += kHex[c.value & 15];
    } else {
      append_utf8(out, c.value);
    }
    text.remove_prefix(c.bytes);
  }
  if (!rest.empty()) out += "...";
  out += '"';
}

}  // namespace

std::optional<LogLevel> parse_log_level(std::string_view text) {
  for (const LogLevel level :
       {LogLevel::kPanic, LogLevel::kError, LogLevel::kVerbose, LogLevel::kDebug}) {
    if (equal_ignoring_case(text, name_of(level))) return level;
  }
  return std::nullopt;
}

std::shared_ptr<LogTarget> stderr_target() {
  static const auto target = std::make_shared<StderrTarget>();
  return target;
}

Log::Log(std::vector<std::shared_ptr<LogTarget>> targets, LogLevel level, LogFormat format,
         const WallClock* clock)
    : targets_(std::move(targets)), level_(level), format_(format), clock_(clock) {}

Log Log::with_request(std::string id) const {
  Log copy = *this;
  copy.request_ = std::move(id);
  return copy;
}

Log Log::with_level(LogLevel level) const {
  Log copy = *this;
  copy.level_ = level;
  return copy;
}

Log Log::with_targets(std::vector<std::shared_ptr<LogTarget>> targets) const {
  Log copy = *this;
  copy.targets_ = std::move(targets);
  return copy;
}

Log Log::with_elsewhere(Elsewhere elsewhere) const {
  Log copy = *this;
  copy.elsewhere_ = std::make_shared<const Elsewhere>(std::move(elsewhere));
  return copy;
}

Log Log::with_file(const std::string& path) const {
  if (path.empty() || elsewhere_ == nullptr) return *this;
  return with_targets((*elsewhere_)(path));
}

void Log::error(std::string_view message) const { write(LogLevel::kError, message, true); }
void Log::error(std::string_view doing, const Error& why) const {
  write(LogLevel::kError, cat(doing, ": ", why.text()), true);
}
void Log::warning(std::string_view message) const {
  write(LogLevel::kError, cat("warning: ", message), true);
}
void Log::verbose(std::string_view message) const { write(LogLevel::kVerbose, message, true); }
void Log::debug(std::string_view message) const { write(LogLevel::kDebug, message, true); }
void Log::verbatim(LogLevel level, std::string_view message) const { write(level, message, false); }

void Log::write(LogLevel level, std::string_view message, bool with_id) const {
  if (!writes(level)) return;
  const std::string time = rfc3339_local(clock_->now());
  const std::size_t most = level == LogLevel::kDebug ? kWhole : kMostOfLine;
  std::string line;
  if (format_ == LogFormat::kJson) {
    line = cat(R"({"time":")", time, R"(","level":")", name_of(level), R"(","msg":)");
    append_json_text(line, message, most);
    if (!request_.empty()) {
      line += R"(,"request":)";
      append_json_text(line, request_, kWhole);
    }
    line += "}\n";
  } else {
    line = cat(time, " [", name_of(level), "] ");
    line += excerpt(message, most);  // one line, which no terminal takes for a command
    if (with_id && !request_.empty()) line += cat(" request=", excerpt(request_));
    line += '\n';
  }
  for (const auto& target : targets_) target->write(line);
}

}  // namespace mnet
