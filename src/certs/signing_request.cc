#include "certs/signing_request.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/fields.h"
#include "json/json.h"
#include "kube/kube.h"

namespace mnet::certs {
namespace {

std::string decoded(const std::string& base64) {
  std::string out;
  return from_base64(base64, out) ? out : std::string();
}

Result<SigningRequest::Condition> parse_condition(const json::Value& value, std::string path) {
  const json::Object* object = value.as_object();
  if (object == nullptr) return json::wrong_kind(path, "an object", value);
  SigningRequest::Condition out;
  json::Fields fields(*object, std::move(path), json::Match::kExact);
  fields.read("type", out.type);
  fields.read("reason", out.reason);
  fields.read("message", out.message);
  MNET_TRY_VOID(fields.done());
  return out;
}

Result<void> read_spec(const json::Object& spec, std::string path, SigningRequest& out) {
  std::string request;
  json::Fields fields(spec, std::move(path), json::Match::kExact);
  fields.read("signerName", out.signer);
  fields.read("request", request);
  fields.read("username", out.username);
  fields.read("groups", out.groups);
  fields.read("usages", out.usages);
  fields.read("expirationSeconds", out.expiration_seconds);
  out.request = decoded(request);
  return fields.done();
}

Result<void> read_status(const json::Object& status, std::string path, SigningRequest& out) {
  std::string certificate;
  json::Fields fields(status, std::move(path), json::Match::kExact);
  fields.read("certificate", certificate);
  fields.list("conditions", [&out](const json::Value& value, std::string at) -> Result<void> {
    MNET_TRY(auto&& condition, parse_condition(value, std::move(at)));
    out.conditions.push_back(std::move(condition));
    return {};
  });
  out.certificate = decoded(certificate);
  return fields.done();
}

}  // namespace

const SigningRequest::Condition* SigningRequest::condition(std::string_view type) const {
  const auto found = std::ranges::find(conditions, type, &Condition::type);
  return found == conditions.end() ? nullptr : &*found;
}

Result<SigningRequest> parse_signing_request(const json::Object& object) {
  MNET_TRY(auto&& meta, kube::parse_meta(object));
  SigningRequest out{.meta = std::move(meta)};
  json::Fields fields(object, "", json::Match::kExact);
  fields.object("metadata", [&out](const json::Object& metadata, std::string path) {
    json::Fields inner(metadata, std::move(path), json::Match::kExact);
    inner.read("uid", out.uid);
    return inner.done();
  });
  fields.object("spec", [&out](const json::Object& spec, std::string path) {
    return read_spec(spec, std::move(path), out);
  });
  fields.object("status", [&out](const json::Object& status, std::string path) {
    return read_status(status, std::move(path), out);
  });
  MNET_TRY_VOID(fields.done());
  return out;
}

json::Object signing_request_object(std::string_view request_pem, std::int64_t expiration_seconds) {
  json::Object spec{{"request", to_base64(request_pem)},
                    {"signerName", kSigner},
                    {"expirationSeconds", expiration_seconds},
                    {"usages", json::Array{"digital signature", "client auth"}}};
  return json::Object{{"apiVersion", "certificates.k8s.io/v1"},
                      {"kind", "CertificateSigningRequest"},
                      {"metadata", json::Object{{"generateName", "csr-"}}},
                      {"spec", std::move(spec)}};
}

}  // namespace mnet::certs
