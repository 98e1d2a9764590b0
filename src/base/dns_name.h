// Names as Kubernetes allows them (RFC 1123): what may become part of an API path or of a file
// name.
#pragma once

#include <string_view>

namespace mnet {

// A namespace's name: lower-case letters, digits and inner '-', 1 to 63 bytes.
bool is_dns_label(std::string_view text);

// Most objects' names: labels joined by '.', at most 253 bytes in all; one label may be longer than
// 63, as Kubernetes has it.
bool is_dns_subdomain(std::string_view text);

}  // namespace mnet
