#include "cni/address.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace mnet::cni {
namespace {

std::string printed(std::string_view text) {
  const auto address = IpAddress::parse(text);
  return address ? address->text() : address.error().text();
}

std::string printed_cidr(std::string_view text) {
  const auto cidr = Cidr::parse(text);
  return cidr ? cidr->text() : cidr.error().text();
}

TEST(IpAddress, PrintsCanonically) {
  EXPECT_EQ(printed("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(printed("FD00:0:0::1"), "fd00::1");
  EXPECT_EQ(printed("::"), "::");
  EXPECT_EQ(printed("::1"), "::1");
  EXPECT_EQ(printed("1::"), "1::");
  EXPECT_EQ(printed("2001:db8:0:1:1:1:1:1"), "2001:db8:0:1:1:1:1:1");  // one zero is not shortened
  EXPECT_EQ(printed("1:0:0:2:0:0:0:3"), "1:0:0:2::3");                 // the longer run
  EXPECT_EQ(printed("1:0:0:2:3:0:0:4"), "1::2:3:0:0:4");               // the first of two
  EXPECT_EQ(printed("::1.2.3.4"), "::102:304");
}

TEST(IpAddress, TakesAMappedAddressForIpv4) {
  const auto mapped = IpAddress::parse("::ffff:1.2.3.4").value();

  EXPECT_TRUE(mapped.is_v4());
  EXPECT_EQ(mapped.text(), "1.2.3.4");
  EXPECT_EQ(mapped, IpAddress::parse("1.2.3.4").value());
  EXPECT_FALSE(IpAddress::parse("::1.2.3.4").value().is_v4());
}

// R19.
TEST(IpAddress, RefusesWhatIsNone) {
  EXPECT_EQ(printed("x"), "invalid IP address: x");
  EXPECT_EQ(printed(""), "invalid IP address: ");
  EXPECT_EQ(printed("1.2.3"), "invalid IP address: 1.2.3");
  EXPECT_EQ(printed("01.2.3.4"), "invalid IP address: 01.2.3.4");
  EXPECT_EQ(printed("fe80::1%eth0"), "invalid IP address: fe80::1%eth0");
  EXPECT_EQ(printed(" 1.2.3.4"), "invalid IP address:  1.2.3.4");
  EXPECT_FALSE(IpAddress::parse(std::string_view("1.2.3.4\0", 8)).has_value());
}

// R17.
TEST(Cidr, KeepsHostBits) {
  EXPECT_EQ(printed_cidr("10.1.2.3/8"), "10.1.2.3/8");
  EXPECT_EQ(printed_cidr("FD00:0:0::1/64"), "fd00::1/64");
}

// R18.
TEST(Cidr, ReducesThePrefixOfAMappedAddressNotBelowZero) {
  EXPECT_EQ(printed_cidr("::ffff:1.2.3.4/120"), "1.2.3.4/24");
  EXPECT_EQ(printed_cidr("::ffff:1.2.3.4/64"), "1.2.3.4/0");
  EXPECT_EQ(printed_cidr("::ffff:1.2.3.4/128"), "1.2.3.4/32");
}

TEST(Cidr, ToleratesALeadingZeroInThePrefixLengthOnly) {
  EXPECT_EQ(printed_cidr("10.0.0.1/024"), "10.0.0.1/24");
  EXPECT_EQ(printed_cidr("010.0.0.1/24"), "invalid CIDR address: 010.0.0.1/24");
}

// R16, and the literal that upstream prints for a missing address (R20).
TEST(Cidr, RefusesWhatIsNone) {
  for (const std::string_view text :
       {"10.0.0.1", "010.0.0.1/24", "1.2.3.4/99", "1.2.3.4/33", "::/129", "fe80::1%eth0/64",
        "<nil>", "", "/", "1.2.3.4/", "/24", "1.2.3.4/+24", "1.2.3.4/-1", "1.2.3.4/24/",
        "1.2.3.4/24 ", "1.2.3/45", "1.2.3.4/99999999999999999999"}) {
    EXPECT_EQ(printed_cidr(text), "invalid CIDR address: " + std::string(text));
  }
}

}  // namespace
}  // namespace mnet::cni
