// What the error of a read says about the thing that was to be read. An error is never an absence.
#pragma once

#include "base/error.h"

namespace mnet {

// Whether the machine lacked the means for the call: descriptors, memory, threads. The same call
// may succeed a moment later, and its failure says nothing about the thing it was for.
bool is_shortage(const Error& error);

// Whether the bytes were read and are wrong. Any other error says nothing about them, least of all
// that there are none.
bool is_damage(const Error& error);

}  // namespace mnet
