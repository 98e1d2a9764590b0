// Where we read otherwise than Go on purpose. docs/testing.md has the same table for people.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "go_reader.h"
#include "json/json.h"

namespace mnet::readers {

// Why the two readings of a text of this kind are not the same; none if they are, or differ on
// purpose only.
std::optional<std::string> disagreement(char kind, const Result<json::Value>& ours,
                                        const Reading& theirs);

}  // namespace mnet::readers
