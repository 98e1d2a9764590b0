#include "http/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mnet::http {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Url, TakesSchemeHostPortAndPath) {
  const auto url = parse_url("https://kube.test:6443/clusters/a/");

  ASSERT_TRUE(url.has_value());
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->host, "kube.test");
  EXPECT_EQ(url->port, 6443);
  EXPECT_EQ(url->path, "/clusters/a");
  EXPECT_EQ(url->authority(), "kube.test:6443");
}

TEST(Url, FillsInTheUsualPorts) {
  EXPECT_EQ(parse_url("http://a")->port, 80);
  EXPECT_EQ(parse_url("HTTPS://a/")->port, 443);
  EXPECT_EQ(parse_url("socks5://a")->port, 1080);
}

// 06, pain 50.
TEST(Url, KeepsIpv6LiteralsInBracketsAndZonesToItself) {
  const auto plain = parse_url("https://[fd00::1]:6443");
  const auto zoned = parse_url("https://[fe80::1%25eth0]");

  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->host, "fd00::1");
  EXPECT_EQ(plain->authority(), "[fd00::1]:6443");
  ASSERT_TRUE(zoned.has_value());
  EXPECT_EQ(zoned->host, "fe80::1%eth0");
  EXPECT_EQ(zoned->authority(), "[fe80::1]:443");
}

TEST(Url, RefusesWhatIsNone) {
  for (const char* text :
       {"", "kube.test:6443", "://a", "ftp://a", "https://", "https://a:0", "https://a:65536",
        "https://a:b", "https://fd00::1:6443", "https://[fd00::1", "https://[a]", "https://a b",
        "https://a/?x", "https://a/#x", "https://a/b c", "https://%zz"}) {
    EXPECT_FALSE(parse_url(text).has_value()) << text;
  }
}

TEST(Url, SaysNoPasswordInItsErrors) {
  const auto url = parse_url("http://user:secret@proxy:bad");

  ASSERT_FALSE(url.has_value());
  EXPECT_THAT(url.error().text(), Not(HasSubstr("secret")));
}

TEST(Url, DecodesUserAndPassword) {
  EXPECT_EQ(parse_url("http://me:p%40ss@proxy:3128")->user_info, "me:p@ss");
}

}  // namespace
}  // namespace mnet::http
