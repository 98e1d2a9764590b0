// Elements of the scratch file, in upstream's format (02, 6.1): a node can be upgraded and rolled
// back with pods running. What a file is and where it lies is the records port's business.
#pragma once

#include <vector>

#include "base/result.h"
#include "json/json.h"
#include "model/delegate.h"

namespace mnet::model {

json::Object encode_scratch(const Delegate& delegate);
json::Array encode_scratch(const std::vector<Delegate>& delegates);

// The first element is the master. An element without usable `Bytes`, or no element at all, is a
// damaged file (kProtocol); members that cannot be used otherwise are ignored. Of files written by
// 4.2.x and v4.3.0 the complete configuration is taken from `CNINetworkConfigList` (02-F55).
Result<std::vector<Delegate>> decode_scratch(json::Array elements);

}  // namespace mnet::model
