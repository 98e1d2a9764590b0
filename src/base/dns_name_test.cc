#include "base/dns_name.h"

#include <gtest/gtest.h>

#include <string>

namespace mnet {
namespace {

TEST(DnsName, LabelsAreLowerCaseLettersDigitsAndInnerDashes) {
  for (const char* good : {"a", "0", "kube-system", "a--b", "1-2"}) {
    EXPECT_TRUE(is_dns_label(good)) << good;
  }
  for (const char* bad :
       {"", "-a", "a-", "A", "a.b", "a_b", "a/b", "..", "a b", "\xc3\xa4", "a\n"}) {
    EXPECT_FALSE(is_dns_label(bad)) << bad;
  }
}

TEST(DnsName, LabelsHaveAtMost63Bytes) {
  EXPECT_TRUE(is_dns_label(std::string(63, 'a')));
  EXPECT_FALSE(is_dns_label(std::string(64, 'a')));
}

TEST(DnsName, SubdomainsAreLabelsJoinedByDots) {
  for (const char* good : {"a", "web-0", "a.b.c", "1.2"}) {
    EXPECT_TRUE(is_dns_subdomain(good)) << good;
  }
  for (const char* bad : {"", ".", "..", "a.", ".a", "a..b", "a.-b", "A.b", "a/b", "../a"}) {
    EXPECT_FALSE(is_dns_subdomain(bad)) << bad;
  }
}

TEST(DnsName, SubdomainsHaveAtMost253Bytes) {
  EXPECT_TRUE(is_dns_subdomain(std::string(253, 'a')));
  EXPECT_FALSE(is_dns_subdomain(std::string(254, 'a')));
}

TEST(DnsName, TakesNoEmbeddedNul) {
  EXPECT_FALSE(is_dns_label(std::string_view("a\0b", 3)));
  EXPECT_FALSE(is_dns_subdomain(std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace mnet
