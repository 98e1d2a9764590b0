// Copies of files that are replaced whole, even while the old one runs (03, 9.3).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"

namespace mnet::sys {

// `to` gets the bytes of `from`, and its mode unless another is given. Written beside and renamed,
// so "text file busy" cannot happen, and nothing is left after a failure. False: `to` had these
// bytes and this mode already and was not touched, or both are one file.
Result<bool> copy_file(const std::string& from, const std::string& to,
                       std::optional<mode_t> mode = {});

// Whether both paths lead to one file, by whatever names and links.
bool is_same_file(const std::string& a, const std::string& b);

}  // namespace mnet::sys
