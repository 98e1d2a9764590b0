// How long the real program waits for a daemon: the times of 03, 3.3 as they are. The waits run
// side by side, so that all of it takes as long as the longest.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <string_view>
#include <thread>

#include "base/text.h"
#include "process.h"
#include "shim/fake_daemon.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::test {
namespace {

using namespace std::chrono_literals;
using shim::FakeDaemon;
using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

constexpr std::string_view kResult =
    R"({"Result":{"cniVersion":"1.1.0","interfaces":[{"name":"eth0"}]}})";

std::string config(const sys::TestDir& dir) {
  return cat(R"({"name":"n","cniVersion":"1.1.0","daemonSocketDir":")", dir.path(),
             R"(","cniDir":")", dir / "cni", R"("})");
}

std::future<Finished> start(std::string_view command, const sys::TestDir& dir) {
  return std::async(std::launch::async, [=, text = config(dir)] {
    return run({.env = standard_env(command), .text = text});
  });
}

// 03, 12: rows 82 to 86.
TEST(ShimProgram, WaitsForADaemonAsLongAsItPromises) {
  const sys::TestDir none, refusing, silent, late;
  {
    const FakeDaemon gone(refusing / "multus.sock");
  }
  const FakeDaemon deaf(silent / "multus.sock",
                        {{"/readyz", {{.bytes = "", .is_kept_open = true}}}});
  auto add = start("ADD", none);
  auto check = start("CHECK", silent);
  auto gc = start("GC", none);
  auto status = start("STATUS", none);
  auto del = start("DEL", none);
  auto refused = start("DEL", refusing);
  auto waiting = start("ADD", late);
  std::this_thread::sleep_for(500ms);  // the time without a daemon is the case
  const FakeDaemon started(late / "multus.sock", {{"/cni", {{.bytes = shim::http(200, kResult)}}}});

  const Finished added = add.get(), checked = check.get(), collected = gc.get(),
                 asked = status.get(), deleted = del.get(), denied = refused.get(),
                 waited = waiting.get();

  EXPECT_EQ(waited.exit, 0) << waited.out;
  EXPECT_THAT(waited.took, Le(60s));
  EXPECT_EQ(added.error().code, 11u);
  EXPECT_THAT(added.error().msg, HasSubstr("no such file or directory"));
  EXPECT_THAT(added.took, AllOf(Ge(9s), Le(60s)));
  EXPECT_EQ(checked.error().code, 11u);
  EXPECT_THAT(checked.took, AllOf(Ge(9s), Le(60s)));
  EXPECT_EQ(collected.exit, 1);
  EXPECT_THAT(collected.took, Le(8s));
  EXPECT_EQ(asked.error().code, 50u);
  EXPECT_THAT(asked.took, Le(8s));
  for (const Finished& finished : {deleted, denied}) {
    EXPECT_EQ(finished.exit, 0);
    EXPECT_THAT(finished.took, AllOf(Ge(2s), Le(8s)));
  }
  for (const sys::TestDir* dir : {&none, &refusing}) {
    EXPECT_TRUE(sys::read_file(*dir / "cni/pending-del/c0ffee-eth0.json").has_value());
  }
}

}  // namespace
}  // namespace mnet::test
