// What a write guarantees when its call returns.
#pragma once

#include <cstdint>

namespace mnet {

enum class Durability : std::uint8_t {
  kInPlace,  // readers see it; a later sync makes it durable
  kDurable,  // it is on disk
};

}  // namespace mnet
