#include "daemon/logging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "base/log.h"
#include "base/log_options.h"
#include "base/text.h"
#include "daemon/config.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::daemon {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Config logging_to(const std::string& file) {
  Config config;
  config.log_file = file;
  config.log_level = "error";
  return config;
}

// 02, 12: row 163
TEST(MakeLogging, GoesToStderrAlsoBesideAFile) {
  const sys::TestDir dir;
  const std::string file = dir / "multus.log";

  EXPECT_TRUE(make_logging(*parse_config("{}")).to_stderr);
  EXPECT_TRUE(make_logging(*parse_config(cat(R"({"logFile":")", file, "\"}"))).to_stderr);
  EXPECT_FALSE(
      make_logging(*parse_config(cat(R"({"logFile":")", file, R"(","logToStderr":false})")))
          .to_stderr);
  EXPECT_FALSE(make_logging(*parse_config(R"({"logToStderr":false})")).to_stderr);
}

TEST(MakeLogging, MakesTheFilesDirectory) {
  const sys::TestDir dir;

  make_logging(logging_to(dir / "made/multus.log")).log.error("a line");

  EXPECT_THAT(sys::read_file(dir / "made/multus.log").value(), EndsWith("[error] a line\n"));
}

TEST(MakeLogging, PutsAFullFileAside) {
  const sys::TestDir dir;
  Config config = logging_to(dir / "multus.log");
  config.log_options = LogOptions();
  config.log_options->max_size = 1;
  config.log_options->compress = false;
  const Logging logging = make_logging(config);

  for (int i = 0; i < 100; ++i) logging.log.error(std::string(12'000, 'x'));

  EXPECT_EQ(std::ranges::distance(std::filesystem::directory_iterator(dir.path())), 2);
}

// 02-F48: through a handle shared by path.
TEST(MakeLogging, LetsARequestNameAFileOfItsOwn) {
  const sys::TestDir dir;
  const Log log = make_logging(logging_to(dir / "multus.log")).log;

  log.with_file(dir / "own.log").error("a request's");
  log.with_file(dir / "multus.log").error("of both");
  log.error("the daemon's");

  EXPECT_THAT(sys::read_file(dir / "own.log").value(), EndsWith("[error] a request's\n"));
  const std::string ours = sys::read_file(dir / "multus.log").value();
  EXPECT_THAT(ours, HasSubstr("[error] of both\n"));
  EXPECT_THAT(ours, EndsWith("[error] the daemon's\n"));
  EXPECT_THAT(ours, Not(HasSubstr("a request's")));
}

TEST(MakeLogging, SaysWhichOptionMakesNoSense) {
  const sys::TestDir dir;
  Config config = logging_to(dir / "multus.log");
  config.log_options = LogOptions();
  config.log_options->max_age = -1;

  const Logging logging = make_logging(config);

  EXPECT_THAT(sys::read_file(dir / "multus.log").value(), HasSubstr("logOptions: maxAge -1"));
  EXPECT_THAT(logging.complaints, IsEmpty());
}

TEST(MakeLogging, WritesNothingButPanicsByDefaultAndComplainsAboutUnknownLevels) {
  const auto silent = make_logging(*parse_config("{}"));
  const auto verbose = make_logging(*parse_config(R"({"logLevel":"VERBOSE"})"));
  const auto unknown = make_logging(*parse_config(R"({"logLevel":"loud"})"));

  EXPECT_FALSE(silent.log.writes(LogLevel::kError));
  EXPECT_TRUE(silent.log.writes(LogLevel::kPanic));
  EXPECT_THAT(silent.complaints, IsEmpty());
  EXPECT_TRUE(verbose.log.writes(LogLevel::kVerbose));
  EXPECT_FALSE(verbose.log.writes(LogLevel::kDebug));
  EXPECT_THAT(unknown.complaints, ElementsAre("multus logging: cannot set logging level to loud"));
  EXPECT_FALSE(unknown.log.writes(LogLevel::kError));
}

}  // namespace
}  // namespace mnet::daemon
