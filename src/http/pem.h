// Finds PEM blocks in a text as Go's encoding/pem does: what is not a block is passed over.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mnet::http {

// The contents of all blocks of this type that have no headers, in order. Text around them is
// ignored, and so is a block that is not well-formed or not base64.
std::vector<std::string> pem_blocks(std::string_view text, std::string_view type);

}  // namespace mnet::http
