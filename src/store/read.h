// Reading a file of ours. Internal to store.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace mnet::store {

// None if there is no file. is_damage(): what is there cannot be a file of ours (a directory, or
// too large for one). Any other error says nothing about what is there.
Result<std::optional<std::string>> find_text(const std::string& path);

}  // namespace mnet::store
