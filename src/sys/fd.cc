#include "sys/fd.h"

#include <unistd.h>

#include <utility>

namespace mnet::sys {

void UniqueFd::reset(int fd) {
  // Once, whatever close() says: on Linux the descriptor is gone even when it reports EINTR.
  if (const int old = std::exchange(fd_, fd); old >= 0) ::close(old);
}

}  // namespace mnet::sys
