// The one source of random numbers: for names, ids and jitter, not for secrets. (Not called
// random.h: <sys/random.h> would find it.)
#pragma once

#include <cstdint>

namespace mnet::sys {

std::uint64_t random_number();

}  // namespace mnet::sys
