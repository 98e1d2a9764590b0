// `logOptions` of a configuration (02, 9), as it gives them: absent members are none.
#pragma once

#include <cstdint>
#include <optional>

namespace mnet {

struct LogOptions {
  std::optional<std::int64_t> max_size;     // MiB; 0: the default
  std::optional<std::int64_t> max_backups;  // 0: all
  std::optional<std::int64_t> max_age;      // days; 0: no limit
  std::optional<bool> compress;
};

}  // namespace mnet
