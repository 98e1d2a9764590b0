#include "http/tls.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/prov_ssl.h>
#include <openssl/ssl.h>
#include <openssl/tls1.h>
#include <openssl/types.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/byte_stream.h"
#include "http/trust.h"

namespace mnet::http {
namespace {

template <auto kFree>
struct Free {
  void operator()(auto* thing) const { kFree(thing); }
};
using BioPtr = std::unique_ptr<BIO, Free<BIO_free>>;
using CertificatePtr = std::unique_ptr<X509, Free<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using CtxPtr = std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, Free<SSL_free>>;

// OpenSSL's reason for its last failure; clears its queue of errors.
std::string last_reason() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "unknown reason" : reason;
}

BioPtr bio_of(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

CertificatePtr next_certificate(BIO* bio) {
  return CertificatePtr(PEM_read_bio_X509(bio, nullptr, nullptr, nullptr));
}

// Keeps OpenSSL from asking for a passphrase on the terminal.
int no_passphrase(char*, int, int, void*) { return 0; }

Result<void> trust(SSL_CTX* context, const std::string& ca) {
  if (ca.empty()) {
    if (SSL_CTX_set_default_verify_paths(context) == 1) return {};
    return Error(Errc::kInvalid, cat("system certificates: ", last_reason()));
  }
  return add_authorities(SSL_CTX_get_cert_store(context), ca);
}

Result<void> identify(SSL_CTX* context, const std::string& certificate, const std::string& key) {
  const BioPtr bio = bio_of(certificate);
  const CertificatePtr own = next_certificate(bio.get());
  if (!own || SSL_CTX_use_certificate(context, own.get()) != 1) {
    return Error(Errc::kInvalid, cat("client certificate: ", last_reason()));
  }
  while (const CertificatePtr issuer = next_certificate(bio.get())) {
    if (SSL_CTX_add1_chain_cert(context, issuer.get()) != 1) {
      return Error(Errc::kInvalid, cat("client certificate: ", last_reason()));
    }
  }
  ERR_clear_error();
  const BioPtr key_bio = bio_of(key);
  const KeyPtr own_key(PEM_read_bio_PrivateKey(key_bio.get(), nullptr, no_passphrase, nullptr));
  if (!own_key || SSL_CTX_use_PrivateKey(context, own_key.get()) != 1) {
    return Error(Errc::kInvalid, cat("client key: ", last_reason()));
  }
  if (SSL_CTX_check_private_key(context) != 1) {
    return Error(Errc::kInvalid, cat("client key does not match the certificate: ", last_reason()));
  }
  return {};
}

// Tells the peer which name we look for; addresses are not told (RFC 6066, 3).
Result<void> tell_name(SSL* ssl, const std::string& name) {
  if (name.empty() || name.find('\0') != std::string::npos) {
    return Error(Errc::kInvalid, "TLS: the server has no name that its certificate could be for");
  }
  if (is_address(name) || SSL_set_tlsext_host_name(ssl, name.c_str()) == 1) return {};
  return Error(Errc::kIo, cat("TLS: the server's name cannot be used: ", last_reason()));
}

// The verdict on the server's certificate, in place of OpenSSL's own. The SSL object knows the name
// that was asked for.
int verify_server(X509_STORE_CTX* received, void*) {
  const auto* ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(received, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const int verdict =
      judge_server(received, *static_cast<const std::string*>(SSL_get_app_data(ssl)));
  X509_STORE_CTX_set_error(received, verdict);
  return verdict == X509_V_OK ? 1 : 0;
}

// TLS between two memory buffers; the bytes travel over `connection_`.
class TlsStream final : public ByteStream {
 public:
  TlsStream(ByteStreamPtr connection, TlsContextPtr context, SslPtr ssl, std::string name)
      : connection_(std::move(connection)),
        context_(std::move(context)),
        name_(std::move(name)),
        ssl_(std::move(ssl)) {
    SSL_set_app_data(ssl_.get(), &name_);
    BIO* in = BIO_new(BIO_s_mem());
    BIO* out = BIO_new(BIO_s_mem());
    BIO_set_mem_eof_return(in, -1);
    SSL_set_bio(ssl_.get(), in, out);  // owns them
  }

  aio::Task<void> shake_hands(aio::Deadline deadline) {
    for (;;) {
      const int done = SSL_do_handshake(ssl_.get());
      const int why = SSL_get_error(ssl_.get(), done);
      const Error refused = done == 1 ? Error(Errc::kBug, "") : distrust();
      auto sent = co_await flush(deadline);
      if (done == 1) co_return sent;
      if (why != SSL_ERROR_WANT_READ) co_return refused;
      if (!sent) co_return sent;
      MNET_CO_TRY(auto&& more, co_await fill(deadline));
      if (!more) co_return Error(Errc::kIo, "TLS handshake: connection closed");
    }
  }

  aio::Task<std::string> read(aio::Deadline deadline) override {
    for (;;) {
      std::string bytes;
      const int why = decrypt(bytes);
      if (why == SSL_ERROR_NONE) co_return bytes;
      if (why == SSL_ERROR_ZERO_RETURN) co_return std::string();
      if (why != SSL_ERROR_WANT_READ) co_return distrust();
      MNET_CO_TRY_VOID(co_await flush(deadline));  // an answer to a key update
      MNET_CO_TRY(auto&& more, co_await fill(deadline));
      // Without close_notify the peer's data may have been truncated.
      if (!more) co_return Error(Errc::kIo, "TLS: connection closed without close_notify");
    }
  }

  aio::Task<void> write(std::string bytes, aio::Deadline deadline) override {
    if (!bytes.empty()) {
      const int count = SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
      if (count <= 0) co_return distrust();
    }
    co_return co_await flush(deadline);
  }

  bool is_quiet() override {
    return SSL_pending(ssl_.get()) == 0 && BIO_pending(SSL_get_rbio(ssl_.get())) == 0 &&
           connection_->is_quiet();
  }

 private:
  aio::Task<void> flush(aio::Deadline deadline) {
    BIO* out = SSL_get_wbio(ssl_.get());
    std::string bytes(BIO_ctrl_pending(out), '\0');
    if (bytes.empty()) co_return Result<void>();
    const int count = BIO_read(out, bytes.data(), static_cast<int>(bytes.size()));
    bytes.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    co_return co_await connection_->write(std::move(bytes), deadline);
  }

  // Outside of read(), whose frame would have the buffer: a watch waits in there for ever.
  int decrypt(std::string& bytes) {
    std::array<char, 16u << 10> buffer;
    const int count = SSL_read(ssl_.get(), buffer.data(), static_cast<int>(buffer.size()));
    if (count > 0) bytes.assign(buffer.data(), static_cast<std::size_t>(count));
    return SSL_get_error(ssl_.get(), count);
  }

  // False at the end of the connection.
  aio::Task<bool> fill(aio::Deadline deadline) {
    MNET_CO_TRY(auto&& bytes, co_await connection_->read(deadline));
    BIO_write(SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
    co_return !bytes.empty();
  }

  Error distrust() const {
    const long verified = SSL_get_verify_result(ssl_.get());
    std::string reason = last_reason();
    if (verified != X509_V_OK && SSL_get_verify_mode(ssl_.get()) != SSL_VERIFY_NONE) {
      reason = cat("x509: ", X509_verify_cert_error_string(verified));
    }
    return Error(Errc::kDenied, cat("tls: ", reason));
  }

  ByteStreamPtr connection_;
  TlsContextPtr context_;
  std::string name_;  // of the server
  SslPtr ssl_;
};

}  // namespace

struct TlsContext::Impl {
  CtxPtr context;
};

TlsContext::TlsContext(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsContext::~TlsContext() = default;

Result<TlsContextPtr> make_tls_context(const TlsSettings& settings) {
  // The host's openssl.cnf may name modules that are not in our image.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  auto impl = std::make_unique<TlsContext::Impl>();
  impl->context.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* context = impl->context.get();
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) {
    return Error(Errc::kIo, cat("TLS: ", last_reason()));
  }
  // Connections are idle most of the time.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  if (settings.verifies) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_cert_verify_callback(context, &verify_server, nullptr);
    MNET_TRY_VOID(trust(context, settings.ca));
  }
  if (!settings.certificate.empty() || !settings.key.empty()) {
    MNET_TRY_VOID(identify(context, settings.certificate, settings.key));
  }
  return std::make_shared<const TlsContext>(std::move(impl));
}

aio::Task<ByteStreamPtr> start_tls(ByteStreamPtr connection, TlsContextPtr context,
                                   std::string name, aio::Deadline deadline) {
  SslPtr ssl(SSL_new(context->impl().context.get()));
  if (!ssl) co_return Error(Errc::kIo, cat("TLS: ", last_reason()));
  SSL_set_connect_state(ssl.get());
  // The zone of an address is ours alone.
  name.resize(std::min(name.size(), name.find('%')));
  MNET_CO_TRY_VOID(tell_name(ssl.get(), name));
  auto stream = std::make_unique<TlsStream>(std::move(connection), std::move(context),
                                            std::move(ssl), std::move(name));
  MNET_CO_TRY_VOID(co_await stream->shake_hands(deadline));
  co_return ByteStreamPtr(std::move(stream));
}

}  // namespace mnet::http
