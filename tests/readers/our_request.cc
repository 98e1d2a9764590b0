#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/types.h>
#include <openssl/x509.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "certs/judge.h"
#include "certs/signing_request.h"
#include "certs/x509.h"
#include "json/json.h"
#include "our_reading.h"

namespace mnet::readers {
namespace {

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char byte : bytes) {
    out += kDigits[static_cast<unsigned char>(byte) >> 4];
    out += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return out;
}

// What is between the first line and the last: the judge approves nothing that is not one block.
std::string der_of(std::string_view pem) {
  const std::size_t begin = pem.find('\n') + 1, end = pem.rfind("-----END");
  std::string der;
  return end != std::string_view::npos && begin <= end &&
                 from_base64(pem.substr(begin, end - begin), der)
             ? der
             : std::string();
}

std::string coordinate(EVP_PKEY* key, const char* name) {
  BIGNUM* number = nullptr;
  if (key == nullptr || EVP_PKEY_get_bn_param(key, name, &number) != 1) return {};
  std::array<unsigned char, 32> bytes{};
  BN_bn2binpad(number, bytes.data(), bytes.size());
  BN_free(number);
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// The point as OpenSSL understands it, uncompressed.
std::string key_of(X509_REQ* request) {
  EVP_PKEY* key = X509_REQ_get0_pubkey(request);
  return "\x04" + coordinate(key, OSSL_PKEY_PARAM_EC_PUB_X) +
         coordinate(key, OSSL_PKEY_PARAM_EC_PUB_Y);
}

}  // namespace

Result<json::Value> read_approved_request(std::string_view text) {
  certs::SigningRequest asked;
  asked.signer = certs::kSigner;
  asked.request = text;
  asked.username = "system:node:node1";
  asked.groups = {"system:nodes", "system:authenticated"};
  asked.usages = {"digital signature", "client auth"};
  asked.expiration_seconds = 600;
  const certs::Verdict verdict = certs::judge(asked);
  if (verdict.decision != certs::Verdict::Decision::kApprove) {
    return Error(Errc::kDenied, verdict.message);
  }
  const std::string der = der_of(text);
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const std::unique_ptr<X509_REQ, decltype(&X509_REQ_free)> request(
      d2i_X509_REQ(nullptr, &at, static_cast<long>(der.size())), &X509_REQ_free);
  if (!request) return Error(Errc::kBug, "approved, but it cannot be read again");
  const certs::Subject subject = certs::subject_of_node("node1");
  return json::Value(json::Object{{"altNames", 0},
                                  {"commonName", subject.common_name},
                                  {"der", hex(der)},
                                  {"extensions", 0},
                                  {"headers", 0},
                                  {"key", hex(key_of(request.get()))},
                                  {"names", 2},
                                  {"organizations", subject.organizations},
                                  {"rest", 0},
                                  {"version", X509_REQ_get_version(request.get())}});
}

}  // namespace mnet::readers
