// Which container ids may become names of files in cniDir. Internal to store.
#pragma once

#include <string_view>

#include "base/error.h"

namespace mnet::store {

inline constexpr std::string_view kAttachments = "_attachments";

// Where damaged pending DELs wait for a person.
inline constexpr std::string_view kBad = "bad";  // in the directory of pending DELs

// Safe in a path, and none of the directories of ours that lie beside the scratch files (02, 0.3;
// 05, 3.2).
bool is_safe_id(std::string_view container_id);
Error unsafe_id_error(std::string_view container_id);

}  // namespace mnet::store
