#include "aio/failpoint.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/run.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "base/durability.h"
#include "base/error.h"
#include "base/try.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::aio {
namespace {

#ifdef MNET_FAILPOINTS

using namespace std::chrono_literals;

Task<int> passes(std::string point) {
  MNET_FAILPOINT(point);
  co_return 1;
}

Task<int> opens_the_way(std::string path) {
  while (!std::filesystem::exists(path + ".here")) {
    MNET_CO_TRY_VOID(co_await sleep_for(1ms));
  }
  MNET_CO_TRY_VOID(sys::replace_file(path, "", 0600, Durability::kInPlace));
  co_return 2;
}

// The plan is read once per process, so all is tried in one test.
TEST(Failpoint, FailsOrWaitsAsToldAndLetsEverythingElsePass) {
  const sys::TestDir dir;
  const std::string plan = "scratch-before-write=fail;scratch-after-write=wait:" + (dir / "go") +
                           ";reply-after-send=wait:" + (dir / "never");
  ASSERT_EQ(::setenv("MULTUS_FAILPOINTS", plan.c_str(), 1), 0);

  EXPECT_EQ(run(passes("reply-before-send")).value(), 1);
  EXPECT_EQ(run(passes("scratch-before-write")).error().text(), "fail point scratch-before-write");
  EXPECT_EQ(run(passes("scratch-before-write")).value(), 1);

  std::vector<Task<int>> both;
  both.push_back(passes("scratch-after-write"));
  both.push_back(opens_the_way(dir / "go"));
  auto results = run([](std::vector<Task<int>> mine) -> Task<int> {
    auto ended = co_await all(std::move(mine));
    co_return ended[0].value() + ended[1].value();
  }(std::move(both)));
  EXPECT_EQ(results.value(), 3);

  auto cut =
      run(with_deadline(passes("reply-after-send"), std::chrono::steady_clock::now() + 10ms));
  EXPECT_EQ(cut.error().code(), Errc::kTimeout);
  EXPECT_TRUE(std::filesystem::exists(dir / "never.here"));
}

#else

TEST(Failpoint, IsNothingInRelease) {
  EXPECT_EQ(run([]() -> Task<int> {
              MNET_FAILPOINT("no such point");
              co_return 1;
            }())
                .value(),
            1);
}

#endif

}  // namespace
}  // namespace mnet::aio
