#include "certs/x509.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
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

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

std::string without_line_feeds_inside(const std::string& pem) {
  const std::size_t begin = pem.find('\n') + 1, end = pem.rfind("\n-----END");
  return pem.substr(0, begin) + replaced(pem.substr(begin, end - begin), "\n", "") +
         pem.substr(end);
}

struct Text {
  std::string name;
  std::string (*made_of)(const std::string& good, const std::string& other);
};
class ParseRequestOfText : public testing::TestWithParam<Text> {};

// 03, 12: row 148. Go's decoder, that of the API server and of the signer, reads the same request
// in some of these, the other one in some, and none in the rest.
TEST_P(ParseRequestOfText, RefusesWhatIsNotTheCanonicalPemOfOneRequest) {
  const std::string good = request_for({.subject = {{"CN", "a"}}});
  const std::string other = request_for({.subject = {{"CN", "b"}}});
  ASSERT_TRUE(parse_request(good) && parse_request(other));

  const auto read = parse_request(GetParam().made_of(good, other));

  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code(), Errc::kInvalid);
}

INSTANTIATE_TEST_SUITE_P(
    EachWay, ParseRequestOfText,
    testing::Values(
        Text{"BeginningInALongLine", behind_a_long_line},
        Text{"BeginningInALongerLine",
             [](auto& good, auto& other) { return std::string(508, ' ') + good + other; }},
        Text{"TwoBlocks", [](auto& good, auto& other) { return good + other; }},
        Text{"TextBefore", [](auto& good, auto&) { return "x\n" + good; }},
        Text{"TextBehind", [](auto& good, auto&) { return good + "x\n"; }},
        Text{"BlankLineBefore", [](auto& good, auto&) { return "\n" + good; }},
        Text{"BlankLineBehind", [](auto& good, auto&) { return good + "\n"; }},
        Text{"NulBehind", [](auto& good, auto&) { return good + '\0'; }},
        Text{"NoLastLineFeed", [](auto& good, auto&) { return good.substr(0, good.size() - 1); }},
        Text{"CarriageReturns", [](auto& good, auto&) { return replaced(good, "\n", "\r\n"); }},
        Text{"BlanksAtLineEnds", [](auto& good, auto&) { return replaced(good, "\n", " \n"); }},
        Text{"Headers",
             [](auto& good, auto&) {
               return replaced(good, "REQUEST-----\nM", "REQUEST-----\nA: b\n\nM");
             }},
        Text{"OtherType",
             [](auto& good, auto&) { return replaced(good, " REQUEST", " NEW REQUEST"); }},
        Text{"OneLine", [](auto& good, auto&) { return without_line_feeds_inside(good); }},
        Text{"MoreThanIsLookedAt",
             [](auto& good, auto& other) { return good + std::string(1 << 20, '\n') + other; }}),
    [](const auto& info) { return info.param.name; });

std::string utf8(const std::string& text) { return der(0x0c, text); }
std::string organization() { return der(0x31, der_attribute(10, utf8("system:multus"))); }
std::string subject_with(const std::string& common_name) {
  return der(0x30, organization() + der(0x31, der_attribute(3, common_name)));
}

// What the original's daemon sends: made by crypto/x509 and encoding/pem.
constexpr std::string_view kMadeByGo =
    "-----BEGIN CERTIFICATE REQUEST-----\n"
    "MIHxMIGYAgEAMDYxFjAUBgNVBAoTDXN5c3RlbTptdWx0dXMxHDAaBgNVBAMTE3N5\n"
    "c3RlbTptdWx0dXM6bm9kZTEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARS1ond\n"
    "Zpm4af5cZ8jKOU053wvPgmfyhkKIDsIpmj1ujB6ItoQkDtteA9OBoTkXLhHh5dio\n"
    "utTMFm97UClq0niroAAwCgYIKoZIzj0EAwIDSAAwRQIgY/i3Tv9lPZnJf1e155N8\n"
    "kSM5nIC1hKU7xLzsz9LwODUCIQDaxbNIjR2f42y4PE1qzbscnk1riKwhEncploHT\n"
    "q8i1sw==\n"
    "-----END CERTIFICATE REQUEST-----\n";

TEST(ParseRequest, ReadsWhatGoWrites) {
  const auto read = parse_request(kMadeByGo);

  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_EQ(read->subject, subject_of_node("node1"));
  EXPECT_EQ(read->key_type, kOurKeyType);
  EXPECT_TRUE(read->is_signed);
}

TEST(ParseRequest, ReadsBothTypesOfTextAndSeveralNamesInOneSet) {
  const std::string printable = der(0x13, "system:multus:node1");
  const std::string in_one_set =
      der(0x30, der(0x31, der_attribute(10, utf8("system:multus")) + der_attribute(3, printable)));

  for (const std::string& subject : {subject_with(printable), in_one_set}) {
    const auto read = parse_request(request_pem(request_der(subject)));

    ASSERT_TRUE(read.has_value()) << read.error().text();
    EXPECT_EQ(read->subject, subject_of_node("node1"));
    EXPECT_THAT(read->further_attributes, IsEmpty());
    EXPECT_TRUE(read->is_signed);
  }
}

// 03, 12: row 148
TEST(ParseRequest, RefusesEncodingsOtherThanDer) {
  const std::string name = utf8("system:multus:node1");
  const std::string good = request_der(subject_with(name));
  ASSERT_TRUE(parse_request(request_pem(good)).has_value());
  const std::string in_pieces = der(0x2c, utf8("system:multus:") + utf8("node1"));
  const std::string unsorted =
      der(0x30, der(0x31, der_attribute(3, name) + der_attribute(10, utf8("system:multus"))));
  const std::string long_form =
      der(0x30, organization() + der(0x31, "\x30\x81\x1a" + der_attribute(3, name).substr(2)));
  const std::string endless =
      der(0x30, organization() + "\x31\x80" + der_attribute(3, name) + std::string(2, '\0'));

  for (const std::string& bytes :
       {request_der(subject_with(in_pieces)), request_der(unsorted), request_der(long_form),
        request_der(endless), good + '\0', good + good}) {
    const auto read = parse_request(request_pem(bytes));

    EXPECT_FALSE(read.has_value()) << to_base64(bytes);
  }
}

TEST(ParseRequest, RefusesNamesInTypesThatGoReadsOtherwise) {
  const std::string in_four_bytes = der(0x1c, std::string("\0\0\0a", 4));  // UniversalString
  const std::string in_two_bytes = der(0x1e, std::string("\0a", 2));       // BMPString
  const std::string teletex = der(0x14, "a");

  for (const std::string& name : {in_four_bytes, in_two_bytes, teletex}) {
    const auto read = parse_request(request_pem(request_der(subject_with(name))));

    ASSERT_FALSE(read.has_value());
    EXPECT_THAT(read.error().text(), HasSubstr("neither a PrintableString nor a UTF8String"));
  }
}

// OpenSSL reads them all. Go, that is the API server and the signer, reads none.
TEST(ParseRequest, RefusesFormsThatGoDoesNotRead) {
  const std::string subject = subject_with(utf8("system:multus:node1"));
  ASSERT_TRUE(parse_request(request_pem(request_der(subject))).has_value());

  for (const auto& [form, why] : std::initializer_list<std::pair<Form, const char*>>{
           {{.attributes = ""}, "no list of attributes"},
           {{.digest = EVP_sha224(), .digest_id = "\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x01"},
            "signature is of another kind"},
           {{.digest = EVP_sha3_256(), .digest_id = "\x06\x09\x60\x86\x48\x01\x65\x03\x04\x03\x0a"},
            "signature is of another kind"},
           {{.point_format = "compressed"}, "not an uncompressed point"},
           {{.point_format = "hybrid"}, "not an uncompressed point"},
           {{.curve_encoding = "explicit"}, "not an uncompressed point"}}) {
    const auto read = parse_request(request_pem(request_der(subject, form)));

    ASSERT_FALSE(read.has_value()) << why;
    EXPECT_THAT(read.error().text(), HasSubstr(why));
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

// The year 9999 is beyond what the clock can count: it must not become a time in the past.
TEST(ParsePair, TakesACertificateThatDoesNotExpireForValid) {
  const Time now = std::chrono::system_clock::now();

  const auto pair = parse_pair(pair_text(subject_of_node("n"), now, Time::max()));

  ASSERT_TRUE(pair.has_value()) << pair.error().text();
  EXPECT_GT(pair->not_after, now + std::chrono::hours(24 * 365 * 200));
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
  EXPECT_THAT(parse_pair(own + other->key).error().text(),
              HasSubstr("does not match the certificate"));
  EXPECT_FALSE(parse_pair(own + made->key.substr(0, 80)).has_value());
  EXPECT_FALSE(parse_pair(own.substr(0, own.size() - 40) + made->key).has_value());
}

}  // namespace
}  // namespace mnet::certs
