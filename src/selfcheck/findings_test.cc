#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/json.h"
#include "selfcheck/api.h"
#include "selfcheck/finding.h"
#include "selfcheck/keys.h"
#include "selfcheck/mounts.h"
#include "sys/mountinfo.h"

namespace mnet::selfcheck {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

json::Object parsed(const std::string& text) { return *json::parse_object(text); }

TEST(Finding, IsOneLineThatSaysWhatWhyAndWhatToDo) {
  const Finding finding{.severity = Severity::kError,
                        .check = kPlugins,
                        .what = "the plugin \"x\" is missing",
                        .why = "Pods fail",
                        .advice = "Install it"};

  EXPECT_EQ(line_of(finding),
            "error: plugins: the plugin \"x\" is missing. Pods fail. Install it.");
}

TEST(Finding, AsJsonIsOkWithWarningsAloneAndNotWithAnError) {
  Findings findings(1);
  EXPECT_EQ(json::dump(json_of(findings)).substr(0, 10), R"({"ok":true)");

  findings[0].severity = Severity::kError;

  EXPECT_EQ(json::dump(json_of(findings)).substr(0, 11), R"({"ok":false)");
}

constexpr std::array<std::string_view, 3> kKnown = {"socketDir", "chrootDir", "logLevel"};

std::string in_file(std::string_view /*key*/) { return "f"; }

TEST(Keys, UnknownOnesAreShownWithTheNearestThatIsKnown) {
  const auto document = parsed(R"({"socketDir":"/x","chroot_dir":"/y","LOGLEVEL":"debug"})");

  const Findings found = check_keys(document, kKnown, in_file);

  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_THAT(found[0].what, HasSubstr("f: the key \"chroot_dir\""));
  EXPECT_THAT(found[0].advice, HasSubstr("Write chrootDir"));
}

TEST(Keys, OneThatIsNearNothingHasNoSuggestion) {
  const auto document = parsed(R"({"weather":"fine"})");

  const Findings found = check_keys(document, kKnown, in_file);

  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].advice, HasSubstr("Remove it"));
}

TEST(Keys, CommentsAreNoKeys) {
  EXPECT_THAT(check_keys(parsed(R"({"_comment":1,"//":2})"), kKnown, in_file), IsEmpty());
}

TEST(Keys, ManyUnknownOnesAreReportedInPart) {
  json::Object document;
  for (int i = 0; i < 1000; ++i) document.set(std::string(70, 'x') + std::to_string(i), i);

  EXPECT_THAT(check_keys(document, kKnown, in_file), SizeIs(20));
}

constexpr const char* kMountInfo =
    "22 28 0:21 / / rw - overlay overlay rw\n"
    "23 22 0:22 / /run/netns rw,nosuid shared:5 master:7 - tmpfs tmpfs rw\n"
    "24 22 0:23 / /hostroot rw - ext4 /dev/sda1 rw\n"
    "25 22 0:24 / /with\\040space rw master:3 - tmpfs tmpfs rw\n"
    "nonsense\n";

TEST(Mounts, ThoseThatSeeLaterMountsOfTheHostAreFine) {
  const auto mounts = sys::parse_mountinfo(kMountInfo);

  EXPECT_THAT(check_propagation(mounts, {"/run/netns", "/with space/below"}), IsEmpty());
}

TEST(Mounts, OneWithoutPropagationAndOneThatIsNotMountedAreErrors) {
  const auto mounts = sys::parse_mountinfo(kMountInfo);

  const Findings found = check_propagation(mounts, {"/hostroot", "/run/other", "/run/netnsx"});

  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].what, "/hostroot does not see what the host mounts later");
  EXPECT_EQ(found[1].what, "/run/other is not mounted from the host");
  EXPECT_EQ(found[2].what, "/run/netnsx is not mounted from the host");
}

TEST(Mounts, TheLastMountOfAPlaceCounts) {
  const auto mounts = sys::parse_mountinfo(
      "23 22 0:22 / /run/netns rw shared:5 - tmpfs tmpfs rw\n"
      "24 22 0:22 / /run/netns rw - tmpfs tmpfs rw\n");

  EXPECT_THAT(check_propagation(mounts, {"/run/netns"}), SizeIs(1));
}

TEST(Api, ThatCannotBeAskedIsAnErrorAndNothingElseIsKnown) {
  const Findings found = judge_api({.server = "https://10.0.0.1:443",
                                    .failure = Error(Errc::kUnavailable, "connection refused"),
                                    .clock_difference = 500s});

  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].what,
            "the API server https://10.0.0.1:443 cannot be reached: connection refused");
}

TEST(Api, AClockThatDiffersIsAWarningThatSaysWhichWay) {
  EXPECT_THAT(judge_api({.server = "s", .clock_difference = 20s}), IsEmpty());
  const Findings behind = judge_api({.server = "s", .clock_difference = 40s});
  const Findings ahead = judge_api({.server = "s", .clock_difference = -40s});

  ASSERT_THAT(behind, SizeIs(1));
  EXPECT_EQ(behind[0].check, kClock);
  EXPECT_THAT(behind[0].what, HasSubstr("40 s behind"));
  EXPECT_THAT(ahead.at(0).what, HasSubstr("40 s ahead"));
}

}  // namespace
}  // namespace mnet::selfcheck
