// When a temporary file of file.h (kTemporaryPrefix) is one that a killed process left behind.
#pragma once

namespace mnet::sys {

// Seconds, for sweep_temporaries(); no writer takes that long.
inline constexpr long kTemporaryAge = 600;

}  // namespace mnet::sys
