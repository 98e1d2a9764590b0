#include "daemon/readiness.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>

#include "aio/sleep.h"
#include "aio/task.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"

namespace mnet::daemon {
namespace {

constexpr std::chrono::seconds kPoll{1};
constexpr int kLooksPerLine = 30;

// Fit for a header, whatever a path contains.
std::string one_line(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c < ' ' || c == '\x7f'; }, '?');
  return text;
}

}  // namespace

bool Readiness::indicator_is_there() const {
  if (indicator_.empty()) return true;
  std::error_code failed;
  return std::filesystem::exists(indicator_, failed);
}

std::string Readiness::hindrance() const {
  if (const std::string lack = lacks_ ? lacks_() : std::string(); !lack.empty()) {
    return one_line("still waiting for " + lack);
  }
  return hindrances_.empty() ? std::string() : one_line(hindrances_.begin()->second);
}

std::string Readiness::missing() const {
  if (std::string why = hindrance(); !why.empty()) return why;
  return indicator_is_there() ? std::string() : one_line(waiting_text());
}

std::string Readiness::why_not() const {
  if (stopping_) return "stopping";
  if (serving_) return missing();
  if (std::string why = hindrance(); !why.empty()) return why;
  return awaited_.empty() ? "starting" : one_line("still waiting for " + awaited_);
}

std::string Readiness::waiting_text() const {
  return cat("still waiting for readinessindicatorfile @ ", indicator_);
}

aio::Task<void> Readiness::report(Log log) const {
  if (indicator_.empty()) co_return Result<void>();
  log.verbatim(LogLevel::kVerbose, "Readiness Indicator file check");
  bool was_there = false;
  for (int missed = 0;;) {
    const bool is_there = indicator_is_there();
    if (is_there) {
      if (!was_there) log.verbatim(LogLevel::kVerbose, "Readiness Indicator file check done!");
      missed = 0;
    } else if (missed++ % kLooksPerLine == 0) {
      log.verbatim(LogLevel::kError, waiting_text());
    }
    was_there = is_there;
    MNET_CO_TRY_VOID(co_await aio::sleep_for(kPoll));
  }
}

}  // namespace mnet::daemon
