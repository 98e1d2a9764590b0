#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/duration.h"
#include "certs/renewal.h"
#include "certs/signing_request.h"
#include "certs/x509.h"
#include "json/json.h"

namespace mnet::certs {
namespace {

using namespace std::chrono_literals;

TEST(GoDuration, ReadsWhatGoWrites) {
  EXPECT_EQ(parse_go_duration("10m").value(), 10min);
  EXPECT_EQ(parse_go_duration("1h30m").value(), 90min);
  EXPECT_EQ(parse_go_duration("1.5h").value(), 90min);
  EXPECT_EQ(parse_go_duration("0").value(), 0s);
  EXPECT_EQ(parse_go_duration("-2s").value(), -2s);
  EXPECT_EQ(parse_go_duration("3ms4us5ns").value(), 3ms + 4us + 5ns);
  EXPECT_EQ(parse_go_duration("7\xc2\xb5s").value(), 7us);
}

TEST(GoDuration, RefusesWhatGoRefuses) {
  for (const char* text : {"", "-", "abc", "10", "m", "10x", ".", ".s", "1h 3m", "3000000h",
                           "1..5s", "99999999999999999999999999999999999s"}) {
    EXPECT_FALSE(parse_go_duration(text).has_value()) << text;
  }
  EXPECT_EQ(parse_go_duration("abc").error().text(), "time: invalid duration \"abc\"");
}

Pair lasting(std::chrono::seconds life) {
  return {.not_before = Time(1000s), .not_after = Time(1000s + life)};
}

TEST(Renewal, IsBetweenSeventyAndNinetyPercentOfTheCertificatesLife) {
  EXPECT_EQ(renewal_point(lasting(1000s), 0), Time(1700s));
  EXPECT_EQ(renewal_point(lasting(1000s), 1), Time(1900s));
}

// 10 min asked for, dated back by 5: 5.5 to 8.5 min after the issue (03, 8.1).
TEST(Renewal, CountsFromTheIssueWhereTheClockCannotTell) {
  EXPECT_EQ(renewal_age(lasting(15min), 0), 5min + 30s);
  EXPECT_EQ(renewal_age(lasting(15min), 1), 8min + 30s);
  EXPECT_EQ(renewal_age(lasting(6min), 0), 0s);
}

TEST(Renewal, NoticesAClockThatCannotBeRight) {
  EXPECT_FALSE(is_skewed(lasting(900s), Time(1300s)));
  EXPECT_TRUE(is_skewed(lasting(900s), Time(1900s)));
  EXPECT_TRUE(is_skewed(lasting(900s), Time(999s)));
}

TEST(SigningRequest, SaysWhatTheSpecificationSays) {
  const json::Object object = signing_request_object("PEM", 600);

  EXPECT_EQ(json::dump(object),
            R"({"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest",)"
            R"("metadata":{"generateName":"csr-"},"spec":{"request":"UEVN",)"
            R"("signerName":"kubernetes.io/kube-apiserver-client","expirationSeconds":600,)"
            R"("usages":["digital signature","client auth"]}})");
}

TEST(SigningRequest, IsReadWithItsConditionsAndCertificate) {
  const auto object = json::parse_object(
      R"({"metadata":{"name":"csr-1","uid":"u"},"spec":{"signerName":"s","request":"UEVN",
      "username":"me","groups":["g"],"usages":["x"],"expirationSeconds":600},"status":{
      "certificate":"UEVN","conditions":[{"type":"Denied","reason":"R","message":"M"}]}})");
  ASSERT_TRUE(object.has_value());

  const auto read = parse_signing_request(*object);

  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_EQ(read->meta.name, "csr-1");
  EXPECT_EQ(read->uid, "u");
  EXPECT_EQ(read->request, "PEM");
  EXPECT_EQ(read->certificate, "PEM");
  EXPECT_EQ(read->expiration_seconds, 600);
  ASSERT_NE(read->condition("Denied"), nullptr);
  EXPECT_EQ(read->condition("Denied")->message, "M");
  EXPECT_EQ(read->condition("Approved"), nullptr);
}

TEST(SigningRequest, OfAWrongShapeIsAnErrorThatNamesTheMember) {
  const auto object = json::parse_object(R"({"metadata":{"name":"a"},"spec":{"groups":"x"}})");
  ASSERT_TRUE(object.has_value());

  const auto read = parse_signing_request(*object);

  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().text().find("spec.groups"), std::string::npos) << read.error().text();
}

}  // namespace
}  // namespace mnet::certs
