#include "selfcheck/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "selfcheck/finding.h"

namespace mnet::selfcheck {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> lines(const Findings& findings) {
  std::vector<std::string> all;
  for (const Finding& finding : findings) all.push_back(line_of(finding));
  return all;
}

TEST(CheckDevices, TellsWhatTheNodeOffers) {
  const Findings found = check_devices({}, {{"a.org/nic", 4}, {"b.org/vf", 1}});

  EXPECT_THAT(lines(found),
              ElementsAre("note: devices: the kubelet offers a.org/nic (4), b.org/vf (1)."));
  EXPECT_FALSE(has_error(found));
}

TEST(CheckDevices, NamesTheDefinitionThatCannotBeSatisfiedOnceForEachResource) {
  const Findings found = check_devices(
      {{"default/x", "a.org/nic"}, {"default/y", "c.org/nic"}, {"default/z", "c.org/nic"}},
      {{"a.org/nic", 4}});

  ASSERT_THAT(found, SizeIs(2));
  EXPECT_THAT(line_of(found[1]),
              HasSubstr("warning: devices: network definition default/y needs a device of "
                        "resource c.org/nic, and the kubelet offers none. "));
}

TEST(CheckDevices, OfAKubeletThatIsNotThereMattersOnlyToThoseThatNeedIt) {
  const Error absent(Errc::kNotFound, "no such file");

  EXPECT_THAT(check_devices({}, absent), IsEmpty());
  EXPECT_THAT(
      lines(check_devices({{"default/x", "a.org/nic"}}, absent)),
      ElementsAre(HasSubstr("cannot read from the kubelet which devices there are: no such file")));
}

TEST(CheckDevices, TellsTwentyThingsAtMost) {
  std::vector<DeviceNeed> needs;
  for (int i = 0; i < 100; ++i) needs.push_back({"default/x", cat("a.org/", i)});

  EXPECT_THAT(check_devices(needs, {}), SizeIs(20));
}

}  // namespace
}  // namespace mnet::selfcheck
