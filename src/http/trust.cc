#include "http/trust.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/obj_mac.h>
#include <openssl/safestack.h>
#include <openssl/types.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "http/pem.h"

namespace mnet::http {
namespace {

template <auto kFree>
struct Free {
  void operator()(auto* thing) const { kFree(thing); }
};
void free_certificates(STACK_OF(X509) * stack) { sk_X509_pop_free(stack, X509_free); }
void free_borrowed(STACK_OF(X509) * stack) { sk_X509_free(stack); }
using CertificatePtr = std::unique_ptr<X509, Free<X509_free>>;
using CertificatesPtr = std::unique_ptr<STACK_OF(X509), Free<free_certificates>>;
using BorrowedPtr = std::unique_ptr<STACK_OF(X509), Free<free_borrowed>>;
using StorePtr = std::unique_ptr<X509_STORE, Free<X509_STORE_free>>;
using StoreCtxPtr = std::unique_ptr<X509_STORE_CTX, Free<X509_STORE_CTX_free>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, Free<GENERAL_NAMES_free>>;
using ConstraintsPtr = std::unique_ptr<NAME_CONSTRAINTS, Free<NAME_CONSTRAINTS_free>>;

// None if more follows the certificate.
CertificatePtr parse_certificate(const std::string& der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const auto* const end = at + der.size();
  CertificatePtr certificate(d2i_X509(nullptr, &at, static_cast<long>(der.size())));
  return at == end ? std::move(certificate) : nullptr;
}

std::string_view der_of(const X509_NAME* name) {
  const unsigned char* bytes = nullptr;
  std::size_t size = 0;
  if (X509_NAME_get0_der(name, &bytes, &size) != 1) return {};
  return {reinterpret_cast<const char*>(bytes), size};
}

// RFC 5280, 4.2.1.9 and 4.2.1.3.
bool may_issue(X509* certificate) {
  const std::uint32_t flags = X509_get_extension_flags(certificate);
  const bool says_so = (flags & EXFLAG_BCONS) != 0;
  if (says_so ? (flags & EXFLAG_CA) == 0 : X509_get_version(certificate) == X509_VERSION_3) {
    return false;
  }
  return (flags & EXFLAG_KUSAGE) == 0 || (X509_get_key_usage(certificate) & KU_KEY_CERT_SIGN) != 0;
}

bool is_for_servers(X509* certificate) {
  const std::uint32_t usages = X509_get_extended_key_usage(certificate);  // none: all bits
  return (usages & (XKU_SSL_SERVER | XKU_ANYEKU)) != 0;
}

// `*` stands for the whole first label, and for nothing else.
bool covers(std::string_view pattern, std::string_view host) {
  if (equal_ignoring_case(pattern, host)) return true;
  const std::size_t dot = host.find('.');
  return pattern.starts_with("*.") && dot != 0 && dot != std::string_view::npos &&
         equal_ignoring_case(pattern.substr(1), host.substr(dot));
}

std::string_view text_of(const ASN1_IA5STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

// Those that are names of servers; the common name does not count.
std::vector<std::string> dns_names(X509* certificate) {
  const NamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> out;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* entry = sk_GENERAL_NAME_value(names.get(), i);
    if (entry->type == GEN_DNS) out.emplace_back(text_of(entry->d.dNSName));
  }
  return out;
}

bool has_name(X509* certificate, const std::string& name) {
  if (is_address(name)) {
    // An IPv4 address in the notation of IPv6 is that IPv4 address.
    const std::string_view mapped = "::ffff:";
    const std::string plain = name.starts_with(mapped) ? name.substr(mapped.size()) : name;
    return X509_check_ip_asc(certificate, name.c_str(), 0) == 1 ||
           (is_address(plain) && X509_check_ip_asc(certificate, plain.c_str(), 0) == 1);
  }
  const std::string_view host(name.data(), name.size() - (name.ends_with('.') ? 1 : 0));
  const auto names = host.empty() ? std::vector<std::string>() : dns_names(certificate);
  return std::ranges::any_of(names, [&](const std::string& one) { return covers(one, host); });
}

// Whether a wildcard of the certificate stands for a name that the authority must not certify.
// OpenSSL takes `*` for a label like any other there.
bool covers_excluded(X509* certificate, X509* authority) {
  const ConstraintsPtr rules(static_cast<NAME_CONSTRAINTS*>(
      X509_get_ext_d2i(authority, NID_name_constraints, nullptr, nullptr)));
  if (!rules) return false;
  const std::vector<std::string> names = dns_names(certificate);
  for (int i = 0; i < sk_GENERAL_SUBTREE_num(rules->excludedSubtrees); ++i) {
    const GENERAL_NAME* base = sk_GENERAL_SUBTREE_value(rules->excludedSubtrees, i)->base;
    if (base->type != GEN_DNS) continue;
    const std::string_view excluded = text_of(base->d.dNSName);
    if (std::ranges::any_of(names, [&](const std::string& one) { return covers(one, excluded); })) {
      return true;
    }
  }
  return false;
}

using Chain = std::vector<X509*>;  // borrowed; each is issued by the next

// Looks for a chain as Go does: all authorities and all certificates that were sent are tried, and
// the first chain that is valid counts. OpenSSL builds one chain, and key identifiers decide which.
class Search {
 public:
  explicit Search(X509_STORE_CTX* received) : received_(received) {}

  int run() {
    X509* const leaf = X509_STORE_CTX_get0_cert(received_);
    const CertificatesPtr same = authorities(X509_get_subject_name(leaf));
    chain_ = {leaf};
    for (int i = 0; i < sk_X509_num(same.get()); ++i) {
      if (X509_cmp(sk_X509_value(same.get(), i), leaf) == 0) return judge();
    }
    return extend() ? X509_V_OK : error_;
  }

 private:
  // As Go: enough for any chain, and a server cannot make us compute for long.
  static constexpr int kMaxSignatures = 100;

  CertificatesPtr authorities(const X509_NAME* subject) const {
    return CertificatesPtr(X509_STORE_CTX_get1_certs(received_, subject));
  }

  bool extend() {
    const CertificatesPtr roots = authorities(X509_get_issuer_name(chain_.back()));
    for (int i = 0; i < sk_X509_num(roots.get()); ++i) {
      X509* const root = sk_X509_value(roots.get(), i);
      if (!is_issued_by(root)) continue;
      chain_.push_back(root);
      const int verdict = judge();
      chain_.pop_back();
      if (verdict == X509_V_OK) return true;
      if (error_ == kNotFound) error_ = verdict;
    }
    STACK_OF(X509)* const sent = X509_STORE_CTX_get0_untrusted(received_);
    for (int i = 0; i < sk_X509_num(sent); ++i) {
      X509* const issuer = sk_X509_value(sent, i);
      if (!is_issued_by(issuer)) continue;
      chain_.push_back(issuer);
      const bool is_found = extend();
      chain_.pop_back();
      if (is_found) return true;
    }
    return false;
  }

  bool is_issued_by(X509* issuer) {
    X509* const child = chain_.back();
    if (der_of(X509_get_subject_name(issuer)) != der_of(X509_get_issuer_name(child))) return false;
    if (!may_issue(issuer)) return false;
    const auto is_same = [issuer](X509* other) { return X509_cmp(other, issuer) == 0; };
    if (std::ranges::any_of(chain_, is_same) || ++signatures_ > kMaxSignatures) return false;
    return X509_verify(child, X509_get0_pubkey(issuer)) == 1;
  }

  // OpenSSL's verdict on this chain: dates, path lengths, constraints, critical extensions.
  int judge() {
    if (!std::ranges::all_of(chain_, is_for_servers)) return X509_V_ERR_INVALID_PURPOSE;
    for (std::size_t i = 1; i < chain_.size(); ++i) {
      if (covers_excluded(chain_.front(), chain_[i])) return X509_V_ERR_EXCLUDED_VIOLATION;
    }
    const StorePtr store(X509_STORE_new());
    const BorrowedPtr between(sk_X509_new_null());
    const StoreCtxPtr context(X509_STORE_CTX_new());
    if (!store || !between || !context) return X509_V_ERR_OUT_OF_MEM;
    X509_STORE_set_check_issued(store.get(), &is_next);
    X509_STORE_add_cert(store.get(), chain_.back());
    for (std::size_t i = 1; i + 1 < chain_.size(); ++i) sk_X509_push(between.get(), chain_[i]);
    if (X509_STORE_CTX_init(context.get(), store.get(), chain_.front(), between.get()) != 1) {
      return X509_V_ERR_OUT_OF_MEM;
    }
    X509_STORE_CTX_set_app_data(context.get(), &chain_);
    X509_VERIFY_PARAM* const rules = X509_STORE_CTX_get0_param(context.get());
    X509_VERIFY_PARAM_set_flags(rules, X509_V_FLAG_PARTIAL_CHAIN);
    X509_VERIFY_PARAM_set_auth_level(rules, 1);  // RSA from 1024 bits on, no SHA-1
    if (X509_verify_cert(context.get()) == 1) return X509_V_OK;
    const int error = X509_STORE_CTX_get_error(context.get());
    return error == X509_V_OK ? X509_V_ERR_UNSPECIFIED : error;
  }

  static int is_next(X509_STORE_CTX* context, X509* child, X509* issuer) {
    const auto& chain = *static_cast<const Chain*>(X509_STORE_CTX_get_app_data(context));
    for (std::size_t i = 1; i < chain.size(); ++i) {
      if (X509_cmp(chain[i - 1], child) == 0) return X509_cmp(chain[i], issuer) == 0 ? 1 : 0;
    }
    return 0;
  }

  static constexpr int kNotFound = X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY;

  X509_STORE_CTX* const received_;
  Chain chain_;
  int signatures_ = 0;
  int error_ = kNotFound;
};

}  // namespace

bool is_address(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> address;
  return ::inet_pton(AF_INET, name.c_str(), address.data()) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), address.data()) == 1;
}

Result<void> add_authorities(X509_STORE* store, std::string_view pem) {
  int count = 0;
  for (const std::string& der : pem_blocks(pem, "CERTIFICATE")) {
    const CertificatePtr certificate = parse_certificate(der);
    if (certificate && X509_STORE_add_cert(store, certificate.get()) == 1) ++count;
  }
  ERR_clear_error();
  if (count == 0) return Error(Errc::kInvalid, "certificate authority: no certificate in PEM form");
  return {};
}

int judge_server(X509_STORE_CTX* received, const std::string& name) {
  const int chain = Search(received).run();
  ERR_clear_error();
  if (chain != X509_V_OK) return chain;
  if (has_name(X509_STORE_CTX_get0_cert(received), name)) return X509_V_OK;
  return is_address(name) ? X509_V_ERR_IP_ADDRESS_MISMATCH : X509_V_ERR_HOSTNAME_MISMATCH;
}

}  // namespace mnet::http
