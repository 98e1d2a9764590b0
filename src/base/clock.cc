#include "base/clock.h"

#include <chrono>
#include <ctime>
#include <string>

#include "base/text.h"

namespace mnet {
namespace {

class SystemWallClock final : public WallClock {
 public:
  std::chrono::system_clock::time_point now() const override {
    return std::chrono::system_clock::now();
  }
};

std::string two_digits(long value) { return cat(value < 10 ? "0" : "", value); }

std::string rfc3339(const std::tm& parts) {
  char text[32];
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::string out(text, length);
  const long offset = parts.tm_gmtoff;
  if (offset == 0) return out + "Z";
  const long minutes = (offset < 0 ? -offset : offset) / 60;
  return cat(out, offset < 0 ? '-' : '+', two_digits(minutes / 60), ':', two_digits(minutes % 60));
}

}  // namespace

const WallClock& WallClock::system() {
  static const SystemWallClock clock;
  return clock;
}

std::string rfc3339_local(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return rfc3339(parts);
}

std::string rfc3339_utc(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return rfc3339(parts);
}

}  // namespace mnet
