// Writing a file of ours into a directory of ours. Internal to store.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/file.h"

namespace mnet::store {

// sys::replace_file() for `path` in `directory`, which is made if it is missing; both for root
// only.
Result<void> replace_below(const std::string& directory, const std::string& path,
                           std::string_view bytes, Durability durability);

}  // namespace mnet::store
