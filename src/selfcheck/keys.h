// Keys of a configuration that no program reads: they are legal and have no effect, so a misspelt
// key is only noticed by what does not happen. Pure.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "json/json.h"
#include "selfcheck/finding.h"

namespace mnet::selfcheck {

// Keys are compared as they are read: letter case does not count. Keys that begin with `_` or `//`
// are comments. `file_of` says where a key was read.
Findings check_keys(const json::Object& document, std::span<const std::string_view> known,
                    const std::function<std::string(std::string_view)>& file_of);

}  // namespace mnet::selfcheck
