// Whether a server's certificate is trusted: the rules of Go's crypto/x509, by which every other
// client of a Kubernetes API server judges it. OpenSSL alone refuses some of what Go accepts, so
// that a bundle of authorities that serves all other programs of the node would not serve us.
#pragma once

#include <openssl/types.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace mnet::http {

// Each certificate of a bundle is an authority, self-signed or not. Blocks that are not
// certificates, or cannot be read, are passed over; kInvalid if nothing is left.
Result<void> add_authorities(X509_STORE* store, std::string_view pem);

// Numeric, of either family.
bool is_address(const std::string& name);

// X509_V_OK if some chain leads from the certificate that was received, by way of others that came
// with it, to an authority of the store, is valid now and for servers, and the certificate names
// `name`, a DNS name or a numeric address. Else what is wrong with the first chain.
int judge_server(X509_STORE_CTX* received, const std::string& name);

}  // namespace mnet::http
