// Client certificates of nodes. This header is the way in: NodeCertificate keeps one
// (node_certificate.h).
#pragma once

#include "certs/node_certificate.h"  // IWYU pragma: export
#include "certs/x509.h"              // IWYU pragma: export
