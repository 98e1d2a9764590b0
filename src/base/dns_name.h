// Names that Kubernetes allows (RFC 1123), and that may therefore become part of an API path or of
// a file name.
#pragma once

#include <string_view>

namespace mnet {

// A namespace's name: lower-case letters, digits and inner '-', 1 to 63 bytes.
bool is_dns_label(std::string_view text);

// The name of most objects: labels joined by '.', at most 253 bytes in all. A single label may be
// longer than 63 bytes, as in Kubernetes.
bool is_dns_subdomain(std::string_view text);

}  // namespace mnet
