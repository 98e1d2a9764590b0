#include "base/spelling.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace mnet {
namespace {

TEST(Spelling, AllowsOneMistakeInAShortWordAndTwoInALongOne) {
  const std::vector<std::string_view> known = {"bridge", "ptp", "vlan"};

  EXPECT_EQ(nearest("brigde", known), "bridge");
  EXPECT_EQ(nearest("bidgee", known), "bridge");
  EXPECT_EQ(nearest("ptpp", known), "ptp");
  EXPECT_EQ(nearest("vxln", known), "");
  EXPECT_EQ(nearest("calico", known), "");
}

TEST(Spelling, IgnoresCaseAndLeavesOutWhatIsNeverMeant) {
  const std::vector<std::string_view> known = {"chrootDir", "ips"};

  EXPECT_EQ(nearest("CHROOT_DIR", known), "chrootDir");
  EXPECT_EQ(nearest("ip", known), "") << "too short to tell";
  EXPECT_EQ(nearest(std::string(1000, 'x'), known), "");
  EXPECT_EQ(suggestion("chrotDir", known), ", did you mean \"chrootDir\"?");
  EXPECT_EQ(suggestion("weather", known), "");
}

}  // namespace
}  // namespace mnet
