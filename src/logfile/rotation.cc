#include "logfile/rotation.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log_options.h"
#include "base/text.h"

namespace mnet::logfile {
namespace {

constexpr std::int64_t kMaxSize = 100;
constexpr std::int64_t kMaxBackups = 5;
constexpr std::int64_t kMaxAge = 5;
// Larger sizes and ages would overflow, and would have no other effect than these.
constexpr std::int64_t kLargestSize = std::int64_t{1} << 40;
constexpr std::int64_t kLargestAge = 100'000;  // days

std::int64_t checked(std::string_view key, std::optional<std::int64_t> given,
                     std::int64_t otherwise, std::vector<std::string>& warnings) {
  if (!given) return otherwise;
  if (*given >= 0) return *given;
  warnings.push_back(cat("logOptions: ", key, " ", *given, " is negative; using ", otherwise));
  return otherwise;
}

}  // namespace

Rotation rotation_of(const LogOptions& options, std::vector<std::string>& warnings) {
  const std::int64_t size = checked("maxSize", options.max_size, kMaxSize, warnings);
  const std::int64_t backups = checked("maxBackups", options.max_backups, kMaxBackups, warnings);
  const std::int64_t age = checked("maxAge", options.max_age, kMaxAge, warnings);

  Rotation rotation;
  rotation.max_bytes =
      static_cast<std::uint64_t>(size == 0 ? kMaxSize : std::min(size, kLargestSize)) << 20;
  rotation.max_backups = static_cast<std::size_t>(backups);
  rotation.max_age = std::chrono::hours(24 * std::min(age, kLargestAge));
  rotation.compress = options.compress.value_or(true);
  return rotation;
}

}  // namespace mnet::logfile
