// The API's object CertificateSigningRequest, as far as asking for certificates and judging such
// requests needs it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/json.h"
#include "kube/objects.h"

namespace mnet::certs {

inline constexpr std::string_view kRequestsPath =
    "/apis/certificates.k8s.io/v1/certificatesigningrequests";
// The sub-resource to which approvals and denials alike are written; elsewhere the server drops
// them.
inline constexpr std::string_view kDecisionEndpoint = "approval";
inline constexpr std::string_view kSigner = "kubernetes.io/kube-apiserver-client";

struct SigningRequest {
  kube::Meta meta = {};
  std::string uid = {};
  std::string signer = {};
  std::string request = {};  // PEM; empty if it is not base64
  std::string username = {};
  std::vector<std::string> groups = {}, usages = {};
  std::optional<std::int64_t> expiration_seconds = {};

  struct Condition {
    std::string type = {}, reason = {}, message = {};
  };
  std::vector<Condition> conditions = {};
  std::string certificate = {};  // PEM; empty: not issued

  std::string key() const { return meta.key(); }
  // nullptr if there is none of that type.
  const Condition* condition(std::string_view type) const;
};
Result<SigningRequest> parse_signing_request(const json::Object& object);

// What a node asks for (03, 8.1).
json::Object signing_request_object(std::string_view request_pem, std::int64_t expiration_seconds);

}  // namespace mnet::certs
