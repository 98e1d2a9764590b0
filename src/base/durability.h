// How much a write has achieved when its call ends.
#pragma once

#include <cstdint>

namespace mnet {

enum class Durability : std::uint8_t {
  kInPlace,  // readers see it; a later sync makes it durable
  kDurable,  // on disk when the call ends
};

}  // namespace mnet
