// Compressing a file in its place.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace mnet::logfile {

inline constexpr std::string_view kGzipSuffix = ".gz";

// Makes `<path>.gz` with the mode of `path`, on disk before `path` is removed; a reader sees one or
// the other, complete. After a failure `path` is as it was, and a second try works.
Result<void> compress_file(const std::string& path);

}  // namespace mnet::logfile
