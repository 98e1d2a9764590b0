// What nodes store and ask for: PEM files with certificates and keys, PKCS#10 requests, the API's
// objects that carry them, and durations of configurations.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/duration.h"
#include "base/text.h"
#include "certs/judge.h"
#include "certs/signing_request.h"
#include "certs/x509.h"
#include "json/json.h"

namespace {

void judge_object(std::string_view text) {
  const auto object = mnet::json::parse_object(text, 100);
  if (!object) return;
  const auto request = mnet::certs::parse_signing_request(*object);
  if (request) (void)mnet::certs::judge(*request);
}

// A request like ours, but with these bytes as its content.
void judge_request(std::string_view text) {
  mnet::certs::SigningRequest request;
  request.signer = mnet::certs::kSigner;
  request.request = text;
  request.username = "system:node:node1";
  request.usages = {"digital signature", "client auth"};
  request.expiration_seconds = 600;
  (void)mnet::certs::judge(request);
}

// What an encoder writes for these bytes; made without OpenSSL, because OpenSSL's parser is under
// test.
std::string canonical_pem(std::string_view der) {
  std::string out = "-----BEGIN CERTIFICATE REQUEST-----\n";
  const std::string digits = mnet::to_base64(der);
  for (std::size_t at = 0; at < digits.size(); at += 64) out += digits.substr(at, 64) + "\n";
  return out + "-----END CERTIFICATE REQUEST-----\n";
}

// The request that we judge must be the one that every other reader finds in the text.
void parse_only_canonical(std::string_view text) {
  if (!mnet::certs::parse_request(text)) return;
  const std::size_t begin = text.find('\n') + 1, end = text.rfind("-----END");
  std::string der;
  if (end == std::string_view::npos || end < begin) std::abort();
  if (!mnet::from_base64(text.substr(begin, end - begin), der)) std::abort();
  if (canonical_pem(der) != text) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)mnet::certs::parse_pair(text);
  (void)mnet::parse_go_duration(text);
  parse_only_canonical(text);
  judge_request(text);
  judge_object(text);
  return 0;
}
