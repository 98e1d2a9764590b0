#include "logfile/log_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/test_clock.h"
#include "base/text.h"
#include "logfile/backups.h"
#include "logfile/rotation.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::logfile {
namespace {

using std::chrono::milliseconds;
using sys::TestDir;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

int mode_of(const std::string& path) {
  return static_cast<int>(std::filesystem::status(path).permissions());
}

std::size_t open_descriptors() { return sys::list_directory("/proc/self/fd").value().size(); }

std::string uncompressed(const std::string& path) {
  std::string text(1u << 20, '\0');
  gzFile file = ::gzopen(path.c_str(), "rbe");
  const int length = ::gzread(file, text.data(), static_cast<unsigned>(text.size()));
  EXPECT_GE(length, 0);
  EXPECT_EQ(::gzclose(file), Z_OK);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

class LogFilesTest : public testing::Test {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    auto entries = sys::list_directory(dir.path()).value();
    std::ranges::transform(entries, std::back_inserter(names), &sys::Entry::name);
    return names;
  }
  std::string text_of(const std::string& name) const { return sys::read_file(dir / name).value(); }

  const TestDir dir;
  TestClock clock;
  std::vector<std::string> reports;
  LogFiles files{{.report = [this](const std::string& message) { reports.push_back(message); },
                  .background = {},
                  .clock = &clock}};
};

TEST_F(LogFilesTest, MakesDirectoriesAndAFileForItsOwnerOnly) {
  const mode_t umask_before = ::umask(0077);

  files.open(dir / "sub/deep/a.log")->write("line\n");
  ::umask(umask_before);

  EXPECT_EQ(text_of("sub/deep/a.log"), "line\n");
  EXPECT_EQ(mode_of(dir / "sub"), 0755);
  EXPECT_EQ(mode_of(dir / "sub/deep"), 0755);
  EXPECT_EQ(mode_of(dir / "sub/deep/a.log"), 0600);
}

TEST_F(LogFilesTest, RotatesBeforeAWriteThatWouldExceedTheSize) {
  const auto file = files.open(dir.write("a.log", "", 0640), {.max_bytes = 10, .compress = false});

  file->write("1234\n");
  file->write("5678\n");
  EXPECT_THAT(names(), ElementsAre("a.log"));  // exactly full is not too full
  file->write("9\n");

  EXPECT_THAT(names(), UnorderedElementsAre("a.log", "a-2026-08-20T15-39-05.123.log"));
  EXPECT_EQ(text_of("a-2026-08-20T15-39-05.123.log"), "1234\n5678\n");
  EXPECT_EQ(text_of("a.log"), "9\n");
  EXPECT_EQ(mode_of(dir / "a.log"), 0640);
}

TEST_F(LogFilesTest, CountsWhatWasThereBeforeAndWhatOthersWrite) {
  const auto file =
      files.open(dir.write("a.log", "12345678\n"), {.max_bytes = 10, .compress = false});

  file->write("x\n");

  EXPECT_EQ(text_of("a.log"), "x\n");
  EXPECT_EQ(text_of("a-2026-08-20T15-39-05.123.log"), "12345678\n");
}

TEST_F(LogFilesTest, CompressesAndKeepsAtMostMaxBackups) {
  const auto file = files.open(dir / "a.log", {.max_bytes = 4, .max_backups = 2});

  for (const std::string line : {"one\n", "two\n", "tri\n", "for\n"}) {
    file->write(line);
    clock.advance(milliseconds(1000));
  }

  EXPECT_THAT(names(), UnorderedElementsAre("a.log", "a-2026-08-20T15-39-07.123.log.gz",
                                            "a-2026-08-20T15-39-08.123.log.gz"));
  EXPECT_EQ(uncompressed(dir / "a-2026-08-20T15-39-07.123.log.gz"), "two\n");
  EXPECT_EQ(uncompressed(dir / "a-2026-08-20T15-39-08.123.log.gz"), "tri\n");
  EXPECT_EQ(mode_of(dir / "a-2026-08-20T15-39-08.123.log.gz"), 0600);
  EXPECT_EQ(text_of("a.log"), "for\n");
}

TEST_F(LogFilesTest, LosesNothingWhenItRotatesTwiceInOneMillisecond) {
  const auto file = files.open(dir / "a.log", {.max_bytes = 4, .compress = false});

  for (const std::string line : {"one\n", "two\n", "tri\n"}) file->write(line);

  EXPECT_EQ(text_of("a-2026-08-20T15-39-05.123.log"), "one\n");
  EXPECT_EQ(text_of("a-2026-08-20T15-39-05.124.log"), "two\n");
}

TEST_F(LogFilesTest, WritesALineThatIsLargerThanAWholeFile) {
  const auto file = files.open(dir / "a.log", {.max_bytes = 4, .compress = false});

  file->write("a long line\n");

  EXPECT_EQ(text_of("a.log"), "a long line\n");
  EXPECT_THAT(names(), ElementsAre("a.log"));
}

TEST_F(LogFilesTest, SharesOneDescriptorAmongAllWhoNameTheSamePath) {
  const auto own = files.open(dir / "a.log");
  own->write("first\n");
  const std::size_t before = open_descriptors();

  std::vector<std::shared_ptr<LogTarget>> handles;
  for (int i = 0; i < 100; ++i) {
    handles.push_back(files.open(dir / "./a.log"));
    handles.back()->write("x\n");
  }

  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(handles.back(), own);
}

TEST_F(LogFilesTest, KeepsNoDescriptorOfRequestsThatAreDone) {
  const std::size_t before = open_descriptors();

  for (int i = 0; i < 100; ++i) files.open(dir / cat("request-", i, ".log"))->write("x\n");

  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(names().size(), 100u);
}

TEST_F(LogFilesTest, ReportsAFileThatCannotBeWrittenOnceUntilItWorksAgain) {
  dir.write("blocked", "");  // a file where a directory is needed

  for (int request = 0; request < 3; ++request) {
    const auto file = files.open(dir / "blocked/a.log");
    for (int line = 0; line < 3; ++line) file->write("lost\n");
  }
  EXPECT_THAT(reports, ElementsAre("log file: mkdir " + (dir / "blocked") + ": not a directory"));

  std::filesystem::remove(dir / "blocked");
  files.open(dir / "blocked/a.log")->write("kept\n");
  EXPECT_EQ(text_of("blocked/a.log"), "kept\n");
  std::filesystem::remove_all(dir / "blocked");
  dir.write("blocked", "");
  files.open(dir / "blocked/a.log")->write("lost\n");
  EXPECT_EQ(reports.size(), 2u);
}

TEST_F(LogFilesTest, GoesOnInTheOldFileWhenItCannotBeRenamed) {
  const std::string name(250, 'x');  // too long with a time in it
  const auto file = files.open(dir / name, {.max_bytes = 4, .compress = false});

  for (const std::string line : {"one\n", "two\n", "tri\n"}) file->write(line);

  EXPECT_EQ(text_of(name), "one\ntwo\ntri\n");
  EXPECT_THAT(reports, ElementsAre(HasSubstr("file name too long")));
}

TEST_F(LogFilesTest, MakesAFileAnewThatSomebodyElseMovedAway) {
  const auto file = files.open(dir / "a.log");
  file->write("one\n");

  std::filesystem::rename(dir / "a.log", dir / "a.log.1");
  file->write("two\n");
  std::filesystem::remove(dir / "a.log");
  file->write("three\n");

  EXPECT_EQ(text_of("a.log.1"), "one\n");
  EXPECT_EQ(text_of("a.log"), "three\n");
}

TEST_F(LogFilesTest, NeverRotatesWhatIsNoRegularFile) {
  const auto file = files.open("/dev/null", {.max_bytes = 2});

  file->write("a line\n");
  file->write("a line\n");

  EXPECT_THAT(reports, IsEmpty());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(LogFilesTest, FinishesWhatAnEarlierProgramLeft) {
  const BackupNames backups(dir / "a.log");
  dir.write(backups.name_at(clock.now() - milliseconds(5)), "left\n");
  dir.write(backups.name_at(clock.now() - std::chrono::hours(24 * 6)), "too old\n");

  const auto file = files.open(dir / "a.log");

  EXPECT_THAT(names(), ElementsAre(backups.name_at(clock.now() - milliseconds(5)) + ".gz"));
}

TEST_F(LogFilesTest, TidiesWhereItIsTold) {
  std::vector<std::function<void()>> jobs;
  LogFiles elsewhere({.report = {},
                      .background =
                          [&jobs](const std::function<void()>& job) {
                            jobs.push_back(job);
                            return true;
                          },
                      .clock = &clock});
  const auto file = elsewhere.open(dir / "a.log", {.max_bytes = 4});
  for (auto& job : std::exchange(jobs, {})) job();

  for (const std::string line : {"one\n", "two\n", "tri\n"}) file->write(line);
  EXPECT_THAT(names(), Contains(testing::EndsWith(".123.log")));
  ASSERT_EQ(jobs.size(), 1u);  // one run serves both
  jobs[0]();

  EXPECT_THAT(names(), UnorderedElementsAre("a.log", "a-2026-08-20T15-39-05.123.log.gz",
                                            "a-2026-08-20T15-39-05.124.log.gz"));
}

TEST_F(LogFilesTest, TidiesAtTheNextRotationWhatCouldNotBeTidiedNow) {
  bool is_short_of_threads = true;
  LogFiles elsewhere({.report = {},
                      .background =
                          [&is_short_of_threads](const std::function<void()>& job) {
                            if (!is_short_of_threads) job();
                            return !is_short_of_threads;
                          },
                      .clock = &clock});
  const auto file = elsewhere.open(dir / "a.log", {.max_bytes = 4});
  file->write("one\n");
  file->write("two\n");
  EXPECT_THAT(names(), Contains("a-2026-08-20T15-39-05.123.log"));

  is_short_of_threads = false;
  file->write("tri\n");

  EXPECT_THAT(names(), UnorderedElementsAre("a.log", "a-2026-08-20T15-39-05.123.log.gz",
                                            "a-2026-08-20T15-39-05.124.log.gz"));
}

TEST_F(LogFilesTest, MayReportToALogThatWritesToTheSameFile) {
  std::shared_ptr<LogTarget> target;
  LogFiles chatty(
      {.report = [&target](const std::string& message) { target->write(message + "\n"); },
       .background = {},
       .clock = &clock});
  target = chatty.open(dir / "a.log", {.max_bytes = 4});
  std::filesystem::create_directory(dir / ".multus-tmp-a-2026-08-20T15-39-05.123.log.gz");

  target->write("one\n");
  target->write("two\n");  // rotates, cannot compress, reports it

  EXPECT_THAT(text_of("a.log"), HasSubstr("old log files: "));
}

TEST_F(LogFilesTest, TearsNoLineOf64ParallelWriters) {
  constexpr int kWriters = 64, kLines = 100;
  const Rotation rotation{.max_bytes = 20'000, .max_backups = 0, .compress = false};
  std::vector<std::thread> writers;
  writers.reserve(kWriters);

  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([this, writer, &rotation] {
      const auto file = files.open(dir / "a.log", rotation);
      for (int i = 0; i < kLines; ++i) {
        file->write(cat("<", writer, ".", i, std::string(static_cast<std::size_t>(i), '.'), ">\n"));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();

  std::set<std::string> seen;
  for (const std::string& name : names()) {
    const std::string text = text_of(name);
    EXPECT_LE(text.size(), 20'000u);
    for (const std::string_view line : split(text, '\n')) {
      if (line.empty()) continue;
      EXPECT_TRUE(line.starts_with('<') && line.ends_with('>')) << line;
      seen.emplace(line);
    }
  }
  EXPECT_EQ(seen.size(), std::size_t{kWriters} * kLines);
  EXPECT_THAT(reports, IsEmpty());
}

}  // namespace
}  // namespace mnet::logfile
