#include "certs/x509.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/text.h"
#include "certs/judge.h"
#include "certs/test_signer.h"

namespace mnet::certs {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Time kNow = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());

TEST(MakeRequest, IsForANewKeyOnP256AndTheSubjectAlone) {
  const auto first = make_request(subject_of_node("node1"));
  const auto second = make_request(subject_of_node("node1"));
  ASSERT_TRUE(first && second);

  const auto read = parse_request(first->request);

  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_EQ(read->subject, subject_of_node("node1"));
  EXPECT_EQ(read->key_type, kOurKeyType);
  EXPECT_TRUE(read->is_signed);
  EXPECT_FALSE(read->wants_extensions);
  EXPECT_THAT(read->further_attributes, IsEmpty());
  EXPECT_TRUE(first->key.starts_with("-----BEGIN EC PRIVATE KEY-----\n")) << first->key;
  EXPECT_NE(first->key, second->key);
}

TEST(MakeRequest, TakesNamesOfNodesLongerThanX509Recommends) {
  const std::string node = std::string(60, 'a') + "." + std::string(60, 'b');
  const auto made = make_request(subject_of_node(node));
  ASSERT_TRUE(made.has_value()) << made.error().text();

  const auto read = parse_request(made->request);

  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->subject.common_name, "system:multus:" + node);
}

TEST(ParseRequest, SeesAllThatIsWanted) {
  const auto read = parse_request(request_for({.subject = {{"CN", "a"},
                                                           {"O", "x"},
                                                           {"OU", "unit"},
                                                           {"CN", "b"},
                                                           {"O", "y"},
                                                           {"1.3.6.1.4.1.57683.2", "uid"}},
                                               .alt_names = "DNS:a.test",
                                               .curve = "P-384"}));

  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_EQ(read->subject.common_name, "b");  // the last, as the API server has it
  EXPECT_THAT(read->subject.organizations, ElementsAre("x", "y"));
  EXPECT_THAT(read->further_attributes, ElementsAre("OU", "CN", "1.3.6.1.4.1.57683.2"));
  EXPECT_TRUE(read->wants_alt_names);
  EXPECT_EQ(read->key_type, "EC secp384r1");
  EXPECT_TRUE(read->is_signed);
}

TEST(ParseRequest, SeesASignatureOfAnotherKey) {
  const auto read = parse_request(request_for({.subject = {{"CN", "a"}}, .is_forged = true}));

  ASSERT_TRUE(read.has_value());
  EXPECT_FALSE(read->is_signed);
}

TEST(ParseRequest, RefusesWhatIsNone) {
  const std::string good = request_for({.subject = {{"CN", "a"}}});
  const std::string truncated = good.substr(0, good.size() / 2);
  const std::string other = cat("-----BEGIN CERTIFICATE-----\n", good.substr(good.find('\n') + 1));

  for (const std::string& text :
       {std::string(), std::string("no PEM"), truncated, other,
        std::string(
            "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"),
        std::string(
            "-----BEGIN CERTIFICATE REQUEST-----\n%%%\n-----END CERTIFICATE REQUEST-----\n"),
        std::string(1 << 21, 'x')}) {
    EXPECT_FALSE(parse_request(text).has_value()) << text.substr(0, 200);
  }
}

TEST(ParsePair, ReadsSubjectAndTimes) {
  const auto pair = parse_pair(pair_text(subject_of_node("a"), kNow - 5min, kNow + 10min));

  ASSERT_TRUE(pair.has_value()) << pair.error().text();
  EXPECT_EQ(pair->subject, subject_of_node("a"));
  EXPECT_EQ(pair->not_before, kNow - 5min);
  EXPECT_EQ(pair->not_after, kNow + 10min);
  EXPECT_TRUE(parse_pair(pair->text()).has_value());
}

TEST(ParsePair, KeepsTheChainBehindTheOwnCertificate) {
  const std::string issuer = sign(request_for({.subject = {{"CN", "ca"}}}), kNow, kNow + 1h);
  const auto made = make_request(subject_of_node("a"));
  ASSERT_TRUE(made.has_value());
  const std::string own = sign(made->request, kNow, kNow + 1h);

  const auto pair = parse_pair(made->key + own + issuer);

  ASSERT_TRUE(pair.has_value()) << pair.error().text();
  EXPECT_EQ(pair->subject, subject_of_node("a"));
  EXPECT_EQ(pair->certificates, own + issuer);
  EXPECT_EQ(pair->key, made->key);
}

TEST(ParsePair, RefusesWhatIsHalfOrMixed) {
  const auto made = make_request(subject_of_node("a"));
  const auto other = make_request(subject_of_node("a"));
  ASSERT_TRUE(made && other);
  const std::string own = sign(made->request, kNow, kNow + 1h);

  EXPECT_THAT(parse_pair("").error().text(), HasSubstr("no certificate"));
  EXPECT_THAT(parse_pair(own).error().text(), HasSubstr("no private key"));
  EXPECT_THAT(parse_pair(made->key).error().text(), HasSubstr("no certificate"));
  EXPECT_THAT(parse_pair(own + other->key).error().text(), HasSubstr("not the certificate's"));
  EXPECT_FALSE(parse_pair(own + made->key.substr(0, 80)).has_value());
  EXPECT_FALSE(parse_pair(own.substr(0, own.size() - 40) + made->key).has_value());
}

}  // namespace
}  // namespace mnet::certs
