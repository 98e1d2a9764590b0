// A tar archive in memory, compressed by gzip (POSIX ustar). Pure.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mnet::multusctl {

struct ArchivedFile {
  std::string name;  // relative; what a path may not have becomes `_`
  std::string text;
};

// Regular files of mode 0600, in the given order.
Result<std::string> make_archive(const std::vector<ArchivedFile>& files,
                                 std::chrono::system_clock::time_point time);

}  // namespace mnet::multusctl
