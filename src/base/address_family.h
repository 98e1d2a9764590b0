// The two families of IP addresses.
#pragma once

#include <cstdint>

namespace mnet {

enum class AddressFamily : std::uint8_t { kV4, kV6 };

}  // namespace mnet
