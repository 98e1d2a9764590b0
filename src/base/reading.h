// What an error of reading says about the thing that was to be read. It never says that the thing
// is absent.
#pragma once

#include "base/error.h"

namespace mnet {

// Whether the machine lacked resources for the call: descriptors, memory, threads. The same call
// may succeed a moment later, and its failure says nothing about the thing that was to be read.
bool is_shortage(const Error& error);

// Whether the bytes were read and are wrong. No other error says anything about the bytes, least of
// all that there are none.
bool is_damage(const Error& error);

}  // namespace mnet
