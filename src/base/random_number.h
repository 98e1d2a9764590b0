// The one source of random numbers: for names, ids and jitter, not for secrets.
#pragma once

#include <cstdint>

namespace mnet {

std::uint64_t random_number();

}  // namespace mnet
