// TLS for clients: whom to trust, who we are. OpenSSL stays inside.
#pragma once

#include <memory>
#include <string>

#include "aio/task.h"
#include "http/byte_stream.h"

namespace mnet::http {

struct TlsSettings {
  bool verifies = true;
  std::string ca = {};                     // PEM; empty: what the system trusts
  std::string certificate = {}, key = {};  // PEM, the certificate's chain behind it; both or none
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

// kInvalid, and why, if one of the texts cannot be used.
Result<TlsContextPtr> make_tls_context(const TlsSettings& settings);

// The handshake on a fresh connection. `name` is what the peer's certificate must be for, a DNS
// name or a numeric address. kDenied: the peer cannot be trusted, or does not trust us.
aio::Task<ByteStreamPtr> start_tls(ByteStreamPtr connection, TlsContextPtr context,
                                   std::string name, aio::Deadline deadline);

}  // namespace mnet::http
