// Writes down a DEL that must be repeated (03, 2.14), as the shim does: the daemon's next round
// finds it.
#pragma once

#include <string>

#include "base/error.h"
#include "base/result.h"
#include "wire/wire.h"

namespace mnet::adapters {

// Durable when this returns. Blocks.
Result<void> write_pending_del(const std::string& cni_dir, const wire::Call& call,
                               const std::string& config);

// What an ADD answers beside the record of an older DEL that cannot be read or removed now: a later
// round would delete what it makes.
Error pending_in_the_way(const Error& why);

}  // namespace mnet::adapters
