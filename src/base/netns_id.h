// Identifies a network namespace. Pure: sys finds the id of the namespace at a path.
#pragma once

#include <cstdint>

namespace mnet {

// Two ids are equal if they name the same namespace, as long as that namespace exists: the kernel
// may reuse the inode number afterwards.
struct NetnsId {
  std::uint64_t device = 0, inode = 0;
  friend bool operator==(const NetnsId&, const NetnsId&) = default;
};

}  // namespace mnet
