// TLS for clients: which servers to trust, and which certificate to present. OpenSSL stays inside.
#pragma once

#include <memory>
#include <string>

#include "aio/task.h"
#include "http/byte_stream.h"

namespace mnet::http {

struct TlsSettings {
  bool verifies = true;
  std::string ca = {};  // PEM; empty: the system's certificates
  std::string certificate = {},
              key = {};  // PEM, the certificate followed by its chain; both or none
};

// Immutable; shared by connections.
class TlsContext {
 public:
  ~TlsContext();
  struct Impl;
  explicit TlsContext(std::unique_ptr<Impl> impl);
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};
using TlsContextPtr = std::shared_ptr<const TlsContext>;

// kInvalid, with the reason, if one of the texts cannot be used.
Result<TlsContextPtr> make_tls_context(const TlsSettings& settings);

// Does the handshake on a new connection. The peer's certificate must be valid for `name`, a DNS
// name or a numeric address; an empty one is kInvalid. kDenied: we do not trust the peer, or it
// does not trust us.
aio::Task<ByteStreamPtr> start_tls(ByteStreamPtr connection, TlsContextPtr context,
                                   std::string name, aio::Deadline deadline);

}  // namespace mnet::http
