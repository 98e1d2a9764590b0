// `reconcile` of the configuration: what becomes of records whose container is gone (05, 3.10).
#pragma once

#include <cstdint>

namespace mnet::model {

enum class ReconcileMode : std::uint8_t { kOff, kReport, kOn };

}  // namespace mnet::model
