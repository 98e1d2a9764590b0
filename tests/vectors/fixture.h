// The files and folders that a case starts from, and the placeholders in its texts.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json.h"

namespace mnet::vectors {

// Creates `files` and `empty_dirs` of `input` below `directory`, which exists. If `files` is null,
// removes the directory.
Result<void> lay_out(const json::Object& input, const std::string& directory);

// `value` with ${DIR} and ${SELF_NETNS} replaced in every text and every key.
json::Value with_places(const json::Value& value, std::string_view directory);

}  // namespace mnet::vectors
