// The target of a request line, reduced to the path it names (03, 2.5).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace mnet::http {

// Percent-decoded, without query and, for `http://host/path`, without what is before the path. A
// path is not cleaned: `//cni` stays what it is. kInvalid: no target of a request.
Result<std::string> path_of_target(std::string_view target);

}  // namespace mnet::http
