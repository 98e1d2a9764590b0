#include "base/random_number.h"

#include <sys/random.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>

namespace mnet {

// Not std::random_device: it asks the processor what it can do (CPUID), each time anew, and a
// virtual machine takes 20 us for that.
std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) == sizeof number) return number;
  // Early at boot there may be none yet.
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return static_cast<std::uint64_t>(now) ^ (static_cast<std::uint64_t>(::getpid()) << 40);
}

}  // namespace mnet
