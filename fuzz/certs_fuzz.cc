// What nodes store and ask for: PEM files with certificates and keys, PKCS#10 requests, the API's
// objects that carry them, and durations of configurations.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "certs/duration.h"
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

// The bytes as a request that is ours but for its content.
void judge_request(std::string_view text) {
  mnet::certs::SigningRequest request;
  request.signer = mnet::certs::kSigner;
  request.request = text;
  request.username = "system:node:node1";
  request.usages = {"digital signature", "client auth"};
  request.expiration_seconds = 600;
  (void)mnet::certs::judge(request);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)mnet::certs::parse_pair(text);
  (void)mnet::certs::parse_go_duration(text);
  judge_request(text);
  judge_object(text);
  return 0;
}
