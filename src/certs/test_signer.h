// For tests: requests of every kind, and an authority that signs them.
#pragma once

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "certs/x509.h"

namespace mnet::certs {

namespace test_detail {

inline std::string take(BIO* bio) {
  char* bytes = nullptr;
  const long count = BIO_get_mem_data(bio, &bytes);
  std::string text(bytes, static_cast<std::size_t>(count));
  BIO_free(bio);
  return text;
}

inline void add(X509_NAME* name, const std::string& kind, const std::string& value) {
  X509_NAME_add_entry_by_txt(name, kind.c_str(), V_ASN1_UTF8STRING,
                             reinterpret_cast<const unsigned char*>(value.data()),
                             static_cast<int>(value.size()), -1, 0);
}

}  // namespace test_detail

struct Wanted {
  std::vector<std::pair<std::string, std::string>> subject = {};  // {"CN", "system:multus:a"}
  std::string alt_names = {};                                     // as OpenSSL writes them
  std::string constraints = {};                                   // `CA:TRUE`
  std::string curve = "P-256";                                    // empty: RSA
  bool is_forged = false;                                         // the signature is of another key
};

inline std::string request_for(const Wanted& wanted) {
  const auto new_key = [&] {
    return wanted.curve.empty() ? EVP_RSA_gen(2048) : EVP_EC_gen(wanted.curve.c_str());
  };
  EVP_PKEY* key = new_key();
  X509_REQ* request = X509_REQ_new();
  for (const auto& [kind, value] : wanted.subject) {
    test_detail::add(X509_REQ_get_subject_name(request), kind, value);
  }
  STACK_OF(X509_EXTENSION)* extensions = sk_X509_EXTENSION_new_null();
  const auto extend = [&](int kind, const std::string& value) {
    if (value.empty()) return;
    sk_X509_EXTENSION_push(extensions, X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str()));
  };
  extend(NID_subject_alt_name, wanted.alt_names);
  extend(NID_basic_constraints, wanted.constraints);
  if (sk_X509_EXTENSION_num(extensions) > 0) X509_REQ_add_extensions(request, extensions);
  sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
  X509_REQ_set_pubkey(request, key);
  EVP_PKEY* signer = wanted.is_forged ? new_key() : key;
  X509_REQ_sign(request, signer, EVP_sha256());
  BIO* out = BIO_new(BIO_s_mem());
  PEM_write_bio_X509_REQ(out, request);
  if (signer != key) EVP_PKEY_free(signer);
  EVP_PKEY_free(key);
  X509_REQ_free(request);
  return test_detail::take(out);
}

// An element of DER: definite, shortest length.
inline std::string der(unsigned char tag, const std::string& content) {
  std::string length;
  for (std::size_t rest = content.size(); rest > 0; rest >>= 8) {
    length.insert(length.begin(), static_cast<char>(rest & 0xff));
  }
  if (content.size() >= 0x80) {
    length.insert(length.begin(), static_cast<char>(0x80 | length.size()));
  } else if (content.empty()) {
    length = std::string(1, '\0');
  }
  return std::string(1, static_cast<char>(tag)) + length + content;
}

// One attribute of a subject: `kind` is the last number of its identifier (3: CN, 10: O), `value` a
// whole element.
inline std::string der_attribute(char kind, const std::string& value) {
  return der(0x30, std::string("\x06\x03\x55\x04") + kind + value);
}

// How a request is written that is otherwise good.
struct Form {
  std::string attributes = std::string("\xa0\x00", 2);
  const EVP_MD* digest = EVP_sha256();
  std::string digest_id = "\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x02";
  const char* point_format = "uncompressed";
  const char* curve_encoding = "named_curve";
};

// A request for a subject that is encoded by hand (a whole Name), well signed, without a PEM block
// around it.
inline std::string request_der(const std::string& subject, const Form& form = {}) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  EVP_PKEY_set_utf8_string_param(key, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT,
                                 form.point_format);
  EVP_PKEY_set_utf8_string_param(key, OSSL_PKEY_PARAM_EC_ENCODING, form.curve_encoding);
  unsigned char* bytes = nullptr;
  const int key_size = i2d_PUBKEY(key, &bytes);
  const std::string key_info(reinterpret_cast<const char*>(bytes),
                             static_cast<std::size_t>(key_size));
  OPENSSL_free(bytes);
  const std::string info =
      der(0x30, std::string("\x02\x01\x00", 3) + subject + key_info + form.attributes);

  EVP_MD_CTX* signing = EVP_MD_CTX_new();
  std::string signature(128, '\0');
  std::size_t size = signature.size();
  EVP_DigestSignInit(signing, nullptr, form.digest, nullptr, key);
  EVP_DigestSign(signing, reinterpret_cast<unsigned char*>(signature.data()), &size,
                 reinterpret_cast<const unsigned char*>(info.data()), info.size());
  signature.resize(size);
  EVP_MD_CTX_free(signing);
  EVP_PKEY_free(key);
  return der(0x30, info + der(0x30, form.digest_id) + der(0x03, std::string(1, '\0') + signature));
}

inline std::string request_pem(const std::string& der_bytes) {
  BIO* out = BIO_new(BIO_s_mem());
  PEM_write_bio(out, "CERTIFICATE REQUEST", "",
                reinterpret_cast<const unsigned char*>(der_bytes.data()),
                static_cast<long>(der_bytes.size()));
  return test_detail::take(out);
}

// A good request in front of which OpenSSL finds a beginning in the middle of a line and Go does
// not: it reads a line in pieces of 254 bytes. Go reads `second`.
inline std::string behind_a_long_line(const std::string& first, const std::string& second) {
  return std::string(254, 'x') + first + second;
}

// A certificate for a request (PEM), signed by a key of its own.
inline std::string sign(const std::string& request_pem, Time not_before, Time not_after) {
  BIO* in = BIO_new_mem_buf(request_pem.data(), static_cast<int>(request_pem.size()));
  X509_REQ* request = PEM_read_bio_X509_REQ(in, nullptr, nullptr, nullptr);
  BIO_free(in);
  if (request == nullptr) return {};
  EVP_PKEY* signer = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  X509_set_subject_name(certificate, X509_REQ_get_subject_name(request));
  test_detail::add(X509_get_issuer_name(certificate), "CN", "test signer");
  ASN1_TIME_set(X509_getm_notBefore(certificate), std::chrono::system_clock::to_time_t(not_before));
  if (not_after == Time::max()) {  // RFC 5280, 4.1.2.5: it does not expire
    ASN1_TIME_set_string(X509_getm_notAfter(certificate), "99991231235959Z");
  } else {
    ASN1_TIME_set(X509_getm_notAfter(certificate), std::chrono::system_clock::to_time_t(not_after));
  }
  X509_set_pubkey(certificate, X509_REQ_get0_pubkey(request));
  X509_sign(certificate, signer, EVP_sha256());
  BIO* out = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(out, certificate);
  X509_free(certificate);
  X509_REQ_free(request);
  EVP_PKEY_free(signer);
  return test_detail::take(out);
}

// A whole pair, as a store holds it.
inline std::string pair_text(const Subject& subject, Time not_before, Time not_after) {
  const auto made = make_request(subject);
  if (!made) return {};
  return sign(made->request, not_before, not_after) + made->key;
}

}  // namespace mnet::certs
