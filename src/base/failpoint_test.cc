#include "base/failpoint.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/result.h"

namespace mnet {
namespace {

#ifdef MNET_FAILPOINTS

// The plan is read once per process, so each test runs in a child of its own, which has one thread.
int exit_code_of(int (*body)()) { std::exit(body()); }

TEST(FailPoint, FailsOnlyWhereItWasToldAndOnlyOnce) {
  EXPECT_EXIT(exit_code_of([] {
                setenv("MULTUS_FAILPOINTS", "reply-before-send=2*fail", 1);
                const bool untouched = !fail_here("reply-after-send").error;
                const bool passed_first = !fail_here("reply-before-send").error;
                const bool failed_second = fail_here("reply-before-send").error.has_value();
                const bool passed_third = !fail_here("reply-before-send").error;
                return untouched && passed_first && failed_second && passed_third ? 0 : 1;
              }),
              testing::ExitedWithCode(0), "");
}

TEST(FailPoint, CrashesLikeAPowerCut) {
  EXPECT_EXIT(exit_code_of([] {
                setenv("MULTUS_FAILPOINTS", "reply-before-send=crash", 1);
                (void)fail_here("reply-before-send");
                return 0;
              }),
              testing::KilledBySignal(SIGKILL), "");
}

TEST(FailPoint, HandsAWaitBackToTheCaller) {
  EXPECT_EXIT(exit_code_of([] {
                setenv("MULTUS_FAILPOINTS", "reply-before-send=wait:/tmp/go", 1);
                return fail_here("reply-before-send").wait_for == "/tmp/go" ? 0 : 1;
              }),
              testing::ExitedWithCode(0), "");
}

// A wait for a file that already exists announces itself and ends at once.
TEST(FailPoint, FailsAndWaitsByItselfWhereAThreadMayBlock) {
  char folder[] = "/tmp/mnet-failpoint-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string go = std::string(folder) + "/go";
  std::ofstream(go) << "";
  const std::string plan = "scratch-after-write=fail;record-before-write=wait:" + go;
  ASSERT_EQ(setenv("MULTUS_FAILPOINTS", plan.c_str(), 1), 0);

  EXPECT_EXIT(exit_code_of([] {
                const auto blocking = [](const char* point) -> Result<bool> {
                  MNET_FAIL_BLOCKING(point);
                  return true;
                };
                const bool failed = !blocking("scratch-after-write").has_value();
                return failed && blocking("record-before-write").has_value() ? 0 : 1;
              }),
              testing::ExitedWithCode(0), "");

  EXPECT_TRUE(std::filesystem::exists(go + ".here"));
  unsetenv("MULTUS_FAILPOINTS");
  std::filesystem::remove_all(folder);
}

TEST(FailPoint, AbortsForAPlaceThatIsNotListed) {
  EXPECT_DEATH((void)fail_here("no-such-place"), "");
}

#else

TEST(FailPoint, DoesNothingInRelease) {
  EXPECT_FALSE(fail_here("no-such-place").error.has_value());
}

#endif

}  // namespace
}  // namespace mnet
