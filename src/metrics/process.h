// The series process_*: what every Prometheus client tells of its process (03, 4.2).
#pragma once

#include <string>

namespace mnet::metrics {

// In the text format. What /proc does not say is left out.
std::string process_text(const std::string& proc = "/proc");

}  // namespace mnet::metrics
