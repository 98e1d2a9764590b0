// What the stores of pods and networks and the way to the API server tell of themselves.
#pragma once

#include "daemon/objects.h"
#include "metrics/metrics.h"

namespace mnet::daemon {

// `objects` must outlive the metrics' last page.
void add_object_metrics(metrics::Metrics& metrics, const Objects& objects);

}  // namespace mnet::daemon
