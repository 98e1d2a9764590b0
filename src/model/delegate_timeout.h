// How long one delegate may run where the configuration has no `delegateTimeout` (02, 10).
#pragma once

#include <chrono>

namespace mnet::model {

inline constexpr std::chrono::seconds kDelegateTimeout{180};

}  // namespace mnet::model
