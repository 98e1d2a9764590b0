#include "base/log.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/test_clock.h"
#include "base/test_log.h"

namespace mnet {
namespace {

struct LogTest : testing::Test {
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
  }
  std::shared_ptr<TestLog> memory = std::make_shared<TestLog>();
  TestClock clock{std::chrono::seconds(1755704345)};
};

TEST_F(LogTest, WritesLinesAsTheOriginalDoes) {
  const Log log({memory}, LogLevel::kVerbose, LogFormat::kText, &clock);

  log.error("Multus: two\nlines");
  log.warning("odd");
  log.verbose("multus-daemon started");
  log.debug("not shown");

  EXPECT_EQ(memory->text(),
            "2025-08-20T15:39:05Z [error] Multus: two\\nlines\n"
            "2025-08-20T15:39:05Z [error] warning: odd\n"
            "2025-08-20T15:39:05Z [verbose] multus-daemon started\n");
}

TEST_F(LogTest, WritesToAnotherFileWhereSomebodyKnowsIt) {
  const Log plain({memory}, LogLevel::kVerbose, LogFormat::kText, &clock);
  const auto other = std::make_shared<TestLog>();
  std::string asked;
  const Log log = plain.with_elsewhere([&](const std::string& path) {
    asked = path;
    return std::vector<std::shared_ptr<LogTarget>>{other};
  });

  plain.with_file("/nobody/knows").verbose("one");
  log.with_file("").verbose("two");
  log.with_file("/a").verbose("three");
  log.verbose("four");

  EXPECT_EQ(asked, "/a");
  EXPECT_EQ(other->text(), "2025-08-20T15:39:05Z [verbose] three\n");
  EXPECT_EQ(memory->text(),
            "2025-08-20T15:39:05Z [verbose] one\n"
            "2025-08-20T15:39:05Z [verbose] two\n"
            "2025-08-20T15:39:05Z [verbose] four\n");
}

TEST_F(LogTest, EndsARequestsLinesInItsIdExceptThoseKeptWordForWord) {
  const Log log = Log({memory}, LogLevel::kVerbose, LogFormat::kText, &clock).with_request("00ff");

  log.verbose("resolving");
  log.verbatim(LogLevel::kVerbose, "ADD starting CNI request");

  EXPECT_EQ(memory->text(),
            "2025-08-20T15:39:05Z [verbose] resolving request=00ff\n"
            "2025-08-20T15:39:05Z [verbose] ADD starting CNI request\n");
}

TEST_F(LogTest, WritesOneJsonObjectPerLineWhenAsked) {
  const Log log = Log({memory}, LogLevel::kError, LogFormat::kJson, &clock).with_request("00ff");

  log.error("a \"b\"\nc");

  EXPECT_EQ(memory->text(),
            "{\"time\":\"2025-08-20T15:39:05Z\",\"level\":\"error\",\"msg\":\"a \\\"b\\\"\\nc\","
            "\"request\":\"00ff\"}\n");
}

TEST_F(LogTest, WritesNothingThatATerminalWouldObey) {
  const Log text({memory}, LogLevel::kError, LogFormat::kText, &clock);
  const Log json({memory}, LogLevel::kError, LogFormat::kJson, &clock);

  text.with_request("\x1b]").error("\x1b[2J\t\xc2\x9b\x7f");
  json.error("\x1b[2J\xc2\x9b\x7f\xff");

  EXPECT_EQ(memory->text(),
            "2025-08-20T15:39:05Z [error] \\x1b[2J\\t\\u009b\\x7f request=\\x1b]\n"
            "{\"time\":\"2025-08-20T15:39:05Z\",\"level\":\"error\","
            "\"msg\":\"\\u001b[2J\\u009b\\u007f\xef\xbf\xbd\"}\n");
}

// Plugins choose how long their errors are.
TEST_F(LogTest, CutsLinesThatAreNotForDebugging) {
  const std::string huge(1u << 20, 'x');
  const Log text({memory}, LogLevel::kDebug, LogFormat::kText, &clock);
  const Log json({memory}, LogLevel::kDebug, LogFormat::kJson, &clock);

  text.with_request("00ff").error(huge);
  json.with_request("00ff").verbose(huge);

  ASSERT_EQ(memory->lines().size(), 2u);
  EXPECT_LT(memory->text().size(), 2 * (17u << 10));
  EXPECT_TRUE(memory->lines()[0].ends_with("x... request=00ff\n"));
  EXPECT_TRUE(memory->lines()[1].ends_with("x...\",\"request\":\"00ff\"}\n"));
  text.debug(huge);
  EXPECT_GT(memory->text().size(), huge.size());
}

TEST(LogLevelTest, IsReadInAnyLetterCase) {
  EXPECT_EQ(parse_log_level("VERbose"), LogLevel::kVerbose);
  EXPECT_EQ(parse_log_level("xx"), std::nullopt);
}

}  // namespace
}  // namespace mnet
