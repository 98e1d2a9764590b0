// Names one network namespace. Pure; sys finds out which one a path leads to.
#pragma once

#include <cstdint>

namespace mnet {

// Equal for the same namespace as long as that lives.
struct NetnsId {
  std::uint64_t device = 0, inode = 0;
  friend bool operator==(const NetnsId&, const NetnsId&) = default;
};

}  // namespace mnet
