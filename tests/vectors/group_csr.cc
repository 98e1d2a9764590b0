#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/try.h"
#include "certs/certs.h"
#include "certs/judge.h"
#include "certs/signing_request.h"
#include "certs/x509.h"
#include "groups.h"
#include "json/fields.h"
#include "json/json.h"

namespace mnet::vectors {
namespace {

constexpr std::string_view kBadDer =
    "-----BEGIN CERTIFICATE REQUEST-----\nAAECAwQF\n-----END CERTIFICATE REQUEST-----\n";

// The PEM text of a case's request.
Result<std::string> request_of(const json::Object& input) {
  MNET_TRY(auto&& wanted, object_of(input, "request"));
  std::string malformed;
  certs::Subject subject;
  json::Fields fields(wanted);
  fields.read("malformed", malformed);
  fields.read("common_name", subject.common_name);
  fields.read("organizations", subject.organizations);
  if (auto done = fields.done(); !done) return Error(Errc::kBug, done.error().text());
  if (malformed == "der") return std::string(kBadDer);
  if (!malformed.empty()) return std::string("no PEM at all");
  auto made = certs::make_request(subject);
  if (!made) return Error(Errc::kBug, made.error().text());
  return made->request;
}

Result<void> read_status(const json::Object& status, std::string path, certs::SigningRequest& out) {
  bool is_issued = false;
  std::vector<std::string> conditions;
  json::Fields fields(status, std::move(path));
  fields.read("certificate_issued", is_issued);
  fields.read("conditions", conditions);
  if (is_issued) out.certificate = "issued";
  for (std::string& type : conditions) out.conditions.push_back({.type = std::move(type)});
  return fields.done();
}

Result<certs::SigningRequest> asked(const json::Object& input) {
  MNET_TRY(auto&& request, request_of(input));
  certs::SigningRequest out{.request = std::move(request)};
  json::Fields fields(input);
  fields.read("name", out.meta.name);
  fields.read("signer_name", out.signer);
  fields.read("username", out.username);
  fields.read("groups", out.groups);
  fields.read("usages", out.usages);
  fields.read("expiration_seconds", out.expiration_seconds);
  fields.object("status", [&out](const json::Object& status, std::string path) {
    return read_status(status, std::move(path), out);
  });
  if (auto done = fields.done(); !done) return Error(Errc::kBug, done.error().text());
  return out;
}

std::string_view name_of(certs::Verdict::Decision decision) {
  switch (decision) {
    case certs::Verdict::Decision::kApprove:
      return "approve";
    case certs::Verdict::Decision::kDeny:
      return "deny";
    case certs::Verdict::Decision::kIgnore:
      break;
  }
  return "ignore";
}

Result<json::Object> judged(const json::Object& input) {
  MNET_TRY(auto&& request, asked(input));
  const certs::Verdict verdict = certs::judge(request);
  json::Object out{{"decision", name_of(verdict.decision)}, {"message", verdict.message}};
  if (verdict.decision != certs::Verdict::Decision::kIgnore) {
    out.set("endpoint", certs::kDecisionEndpoint);
  }
  return out;
}

}  // namespace

Group csr_group() { return {.name = "csr", .operations = {{"", judged}}}; }

}  // namespace mnet::vectors
