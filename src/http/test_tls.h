// For tests: makes certificates.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace mnet::http {

struct Identity {
  std::string certificate, key;  // PEM
};

// Signs certificates. Each object is a different authority, though all that sign their own
// certificate have the same name, and none has a key identifier.
class TestAuthority {
 public:
  TestAuthority() : TestAuthority(nullptr) {}
  // Its own certificate is signed by another authority.
  explicit TestAuthority(const TestAuthority* issuer)
      : name_(issuer == nullptr ? "test authority" : "intermediate authority"),
        key_(EVP_EC_gen("P-256")),
        certificate_(X509_new()) {
    fill(certificate_, key_, name_, issuer == nullptr ? name_ : issuer->name_);
    extend(certificate_, NID_basic_constraints, "critical,CA:TRUE");
    X509_sign(certificate_, issuer == nullptr ? key_ : issuer->key_, EVP_sha256());
  }
  TestAuthority(const TestAuthority&) = delete;
  TestAuthority& operator=(const TestAuthority&) = delete;
  ~TestAuthority() {
    X509_free(certificate_);
    EVP_PKEY_free(key_);
  }

  std::string pem() const { return text_of(certificate_); }

  // `alt_names` in OpenSSL's form: `DNS:kube.test,IP:127.0.0.1`; empty: none.
  Identity sign(const std::string& common_name, const std::string& alt_names) const {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = X509_new();
    fill(certificate, key, common_name, name_);
    if (!alt_names.empty()) extend(certificate, NID_subject_alt_name, alt_names.c_str());
    X509_sign(certificate, key_, EVP_sha256());
    Identity out{text_of(certificate), text_of(key)};
    X509_free(certificate);
    EVP_PKEY_free(key);
    return out;
  }

 private:
  static void fill(X509* certificate, EVP_PKEY* key, const std::string& common_name,
                   const std::string& issuer) {
    static long serial = 0;
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 24L * 3600);
    set_name(X509_get_subject_name(certificate), common_name);
    set_name(X509_get_issuer_name(certificate), issuer);
    X509_set_pubkey(certificate, key);
  }
  static void set_name(X509_NAME* name, const std::string& common_name) {
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                               0);
  }
  static void extend(X509* certificate, int kind, const char* value) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
  static std::string text_of(X509* certificate) {
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, certificate);
    return take(bio);
  }
  static std::string text_of(EVP_PKEY* key) {
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
    return take(bio);
  }
  static std::string take(BIO* bio) {
    char* bytes = nullptr;
    const long count = BIO_get_mem_data(bio, &bytes);
    std::string text(bytes, static_cast<std::size_t>(count));
    BIO_free(bio);
    return text;
  }

  std::string name_;
  EVP_PKEY* key_;
  X509* certificate_;
};

}  // namespace mnet::http
