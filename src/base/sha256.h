// SHA-256 (FIPS 180-4) of a text in memory, to identify contents. Not for secrets.
#pragma once

#include <string>
#include <string_view>

namespace mnet {

// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view text);

}  // namespace mnet
