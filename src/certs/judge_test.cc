#include "certs/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "certs/signing_request.h"
#include "certs/test_signer.h"

namespace mnet::certs {
namespace {

using Decision = Verdict::Decision;
using testing::AllOf;
using testing::HasSubstr;

Wanted wanted() { return {.subject = {{"O", "system:multus"}, {"CN", "system:multus:node1"}}}; }

SigningRequest asked(const Wanted& what = wanted()) {
  return {.meta = {.name = "csr-1"},
          .signer = std::string(kSigner),
          .request = request_for(what),
          .username = "system:node:node1",
          .groups = {"system:nodes", "system:authenticated"},
          .usages = {"client auth", "digital signature", "client auth"},
          .expiration_seconds = 31'536'000};
}

TEST(Judge, ApprovesTheKubeletsAndTheDaemonsOwnRequests) {
  SigningRequest renewal = asked();
  renewal.username = "system:multus:node1";
  renewal.groups = {"system:multus", "system:authenticated"};

  EXPECT_EQ(judge(asked()).decision, Decision::kApprove);
  EXPECT_EQ(judge(asked()).message, "Auto-approved CSR \"csr-1\"");
  EXPECT_EQ(judge(renewal).decision, Decision::kApprove);
}

struct Broken {
  std::string name;
  std::function<void(SigningRequest&)> breaks;
  std::string fragment;
};
class JudgeDenies : public testing::TestWithParam<Broken> {};

// 03, 12: row 147, the rules themselves
TEST_P(JudgeDenies, WithTheReason) {
  SigningRequest request = asked();
  GetParam().breaks(request);

  const Verdict verdict = judge(request);

  EXPECT_EQ(verdict.decision, Decision::kDeny);
  EXPECT_THAT(verdict.message, HasSubstr(GetParam().fragment));
}

void ask_instead(SigningRequest& request, const std::function<void(Wanted&)>& change) {
  Wanted what = wanted();
  change(what);
  request.request = request_for(what);
}

INSTANTIATE_TEST_SUITE_P(
    EachRule, JudgeDenies,
    testing::Values(
        Broken{"NoNode", [](auto& r) { r.username = "system:node:"; },
               "failed to parse the username"},
        Broken{"NoColon", [](auto& r) { r.username = "admin"; }, "failed to parse the username"},
        Broken{"User", [](auto& r) { r.username = "system:serviceaccount:a:node1"; },
               "unexpected user"},
        Broken{"NodeName", [](auto& r) { r.username = "system:node:Node_1"; },
               "is not a valid DNS subdomain"},
        Broken{"UsageMissing", [](auto& r) { r.usages = {"client auth"}; }, "unexpected usages"},
        Broken{"UsageExtra", [](auto& r) { r.usages.push_back("server auth"); },
               "unexpected usages"},
        Broken{"Group", [](auto& r) { r.groups.push_back("system:masters"); }, "unexpected groups"},
        Broken{"OtherNode", [](auto& r) { r.username = "system:node:node2"; }, "commonName"},
        Broken{"Organization",
               [](auto& r) {
                 ask_instead(r, [](Wanted& w) { w.subject[0].second = "system:masters"; });
               },
               "organization"},
        Broken{"TwoOrganizations",
               [](auto& r) {
                 ask_instead(r, [](Wanted& w) { w.subject.emplace_back("O", "system:masters"); });
               },
               "organization"},
        Broken{"NoDuration", [](auto& r) { r.expiration_seconds.reset(); }, "expirationSeconds"},
        Broken{"LongDuration", [](auto& r) { r.expiration_seconds = 31'536'001; },
               "invalid expirationSeconds value: 31536001"},
        Broken{"AltNames",
               [](auto& r) { ask_instead(r, [](Wanted& w) { w.alt_names = "DNS:kubernetes"; }); },
               "subjectAltName"},
        Broken{"AddressAltName",
               [](auto& r) { ask_instead(r, [](Wanted& w) { w.alt_names = "IP:10.0.0.1"; }); },
               "subjectAltName"},
        Broken{"Authority",
               [](auto& r) { ask_instead(r, [](Wanted& w) { w.constraints = "CA:TRUE"; }); },
               "unexpected extensions"},
        Broken{"UserId",
               [](auto& r) {
                 ask_instead(r,
                             [](Wanted& w) { w.subject.emplace_back("1.3.6.1.4.1.57683.2", "1"); });
               },
               "unexpected attributes"},
        Broken{"KeyRsa", [](auto& r) { ask_instead(r, [](Wanted& w) { w.curve = ""; }); },
               "unexpected key \"RSA 2048\""},
        Broken{"KeyCurve", [](auto& r) { ask_instead(r, [](Wanted& w) { w.curve = "P-384"; }); },
               "unexpected key"},
        Broken{"Forged", [](auto& r) { ask_instead(r, [](Wanted& w) { w.is_forged = true; }); },
               "not signed"}),
    [](const auto& info) { return info.param.name; });

TEST(Judge, QuotesBothNamesOfASpoofedNode) {
  SigningRequest request = asked();
  request.username = "system:multus:node2";

  EXPECT_THAT(judge(request).message,
              AllOf(HasSubstr("\"system:multus:node1\""), HasSubstr("\"system:multus:node2\"")));
}

// 03, 12: row 148
TEST(Judge, LeavesAloneWhatIsNotOurs) {
  SigningRequest other_signer = asked();
  other_signer.signer = "kubernetes.io/kubelet-serving";
  SigningRequest other_name = asked({.subject = {{"CN", "system:multus-x"}}});
  SigningRequest malformed = asked();
  malformed.request =
      "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n";

  for (const SigningRequest& request : {other_signer, other_name, malformed}) {
    EXPECT_EQ(judge(request).decision, Decision::kIgnore);
  }
}

// 03, 12: row 148. The API server and the signer read the second request, of whatever group it is.
TEST(Judge, LeavesAloneWhatOthersMayReadAsAnotherRequest) {
  SigningRequest request = asked();
  const std::string other =
      request_for({.subject = {{"O", "kubeadm:cluster-admins"}, {"CN", "x"}}});
  request.request = behind_a_long_line(request.request, other);

  const Verdict verdict = judge(request);

  EXPECT_EQ(verdict.decision, Decision::kIgnore);
  EXPECT_TRUE(verdict.is_unreadable);
  EXPECT_THAT(verdict.message, HasSubstr("not exactly one PEM block"));
}

TEST(Judge, LeavesAloneWhatIsDecided) {
  SigningRequest issued = asked(), approved = asked(), denied = asked();
  issued.certificate = "PEM";
  approved.conditions.push_back({.type = "Approved"});
  denied.conditions.push_back({.type = "Denied"});

  for (const SigningRequest& request : {issued, approved, denied}) {
    EXPECT_EQ(judge(request).decision, Decision::kIgnore);
    EXPECT_FALSE(judge(request).is_unreadable);
  }
}

}  // namespace
}  // namespace mnet::certs
