// The target of a request line, reduced to the path it names (03, 2.5).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace mnet::http {

// Percent-decoded, without query and, for `http://host/path`, without scheme and host. The path is
// not cleaned: `//cni` stays as it is. kInvalid: not a valid target.
Result<std::string> path_of_target(std::string_view target);

}  // namespace mnet::http
