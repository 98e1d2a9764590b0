// Writes down a DEL that must be repeated (03, 2.14), as the shim does: the daemon's next round
// finds it.
#pragma once

#include <string>

#include "attach/attach.h"
#include "base/result.h"

namespace mnet::adapters {

// Durable when this returns. Blocks.
Result<void> write_pending_del(const std::string& cni_dir, const attach::Request& request);

}  // namespace mnet::adapters
