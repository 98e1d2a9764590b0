// Compresses a file in place, or bytes in memory.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace mnet::logfile {

inline constexpr std::string_view kGzipSuffix = ".gz";

// Makes `<path>.gz` with the mode of `path`, and removes `path` once that is on disk; readers find
// one or both of them, always complete. After a failure `path` is unchanged, and the call may be
// repeated.
Result<void> compress_file(const std::string& path);

// The bytes as the contents of such a file.
Result<std::string> compressed(std::string_view bytes);

}  // namespace mnet::logfile
