// Metrics of the stores of pods and networks, and of the way to the API server.
#pragma once

#include "certs/certs.h"
#include "daemon/objects.h"
#include "metrics/metrics.h"

namespace mnet::daemon {

// `objects` must outlive the metrics' last page.
void add_object_metrics(metrics::Metrics& metrics, const Objects& objects);
// `certificate` must outlive it, too.
void add_certificate_metrics(metrics::Metrics& metrics, const certs::NodeCertificate* certificate);

}  // namespace mnet::daemon
