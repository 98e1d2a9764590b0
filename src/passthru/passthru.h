// The program passthru: a CNI plugin that does nothing, for chains that need a first plugin (02,
// 3.9; 03, 9.3).
#pragma once

#include "skel/skel.h"

namespace mnet::passthru {

// The exit status.
int run(const skel::Front& front);

}  // namespace mnet::passthru
