// The folder as a whole: real files, real inotify, the event loop.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include <boost/system/error_code.hpp>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/event.h"
#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "manifests/manifests.h"
#include "model/objects.h"
#include "sys/fd.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::manifests {
namespace {

using namespace std::chrono_literals;
using sys::TestDir;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string pod(const std::string& name, const std::string& uid = "") {
  return cat("{apiVersion: v1, kind: Pod, metadata: {name: ", name, ", uid: '", uid, "'}}\n");
}

aio::Deadline in(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }
constexpr auto kLong = 60s;  // a failure, not a wait

// Lines as they are written, on the loop.
class Lines final : public LogTarget {
 public:
  void write(std::string_view line) override {
    lines.emplace_back(line);
    more.notify_all();
  }
  bool has(const std::string& part) const {
    for (const std::string& line : lines) {
      if (line.find(part) != std::string::npos) return true;
    }
    return false;
  }
  aio::Task<void> wait_for(std::string part) {
    while (!has(part)) {
      MNET_CO_TRY_VOID(co_await more.wait(in(kLong)));
    }
    co_return Result<void>();
  }

  std::vector<std::string> lines;
  aio::Notifier more;
};

struct Found {
  bool ended = false;
  Result<model::PodObjectPtr> result;
};

// The test owns what is filled in, and joins the group before it ends.
aio::Task<void> keep(aio::Task<model::PodObjectPtr> task, Found* into) {
  auto result = co_await std::move(task);
  *into = {true, std::move(result)};
  co_return Result<void>();
}

class FolderTest : public testing::Test {
 protected:
  ~FolderTest() override {
    group.cancel();
    EXPECT_TRUE(aio::run(loop, group.join(in(kLong))).has_value());
  }

  void start() {
    group.spawn("folder", folder.follow());
    ASSERT_TRUE(aio::run(loop, folder.wait_loaded(in(kLong))).has_value());
  }
  std::vector<std::string> pods() const {
    std::vector<std::string> names;
    for (const auto& [key, found] : folder.snapshot()->pods()) names.push_back(found->name);
    return names;
  }
  // What the folder has after its next change.
  std::vector<std::string> next_pods() {
    auto newer = aio::run(loop, folder.wait_newer(folder.snapshot(), in(kLong)));
    EXPECT_TRUE(newer.has_value()) << newer.error().text();
    return pods();
  }
  // Runs until the folder has seen everything that was done to it up to now.
  void catch_up() {
    dir.write("objects/zz-mark.yaml", pod(cat("mark-", ++marks_)));
    auto seen = aio::run(loop, folder.wait_for_pod("default", cat("mark-", marks_), "", in(kLong)));
    ASSERT_TRUE(seen.has_value()) << seen.error().text();
  }

  const TestDir dir;
  const std::string path = dir / "objects";
  aio::asio::io_context loop{1};
  aio::BlockingPool pool{2};
  std::shared_ptr<Lines> lines = std::make_shared<Lines>();
  Log log{{lines}, LogLevel::kVerbose};
  Folder folder{path, pool, log, {.settling = 1ms, .pause = 1ms}};
  aio::Group group{loop.get_executor(), log};

 private:
  int marks_ = 0;
};

TEST_F(FolderTest, IsEmptyBeforeItIsRead) {
  EXPECT_THAT(pods(), IsEmpty());
  EXPECT_EQ(aio::run(loop, folder.wait_loaded(in(0ms))).error().code(), Errc::kTimeout);
}

TEST_F(FolderTest, ReadsWhatIsThereAndFollowsWhatComes) {
  dir.write("objects/a.yaml", pod("a"));
  start();
  EXPECT_THAT(pods(), ElementsAre("a"));

  dir.write("objects/b.yaml", pod("b"));
  EXPECT_THAT(next_pods(), ElementsAre("a", "b"));

  dir.write("objects/a.yaml", pod("a2"));
  EXPECT_THAT(next_pods(), ElementsAre("a2", "b"));

  std::filesystem::remove(dir / "objects/b.yaml");
  EXPECT_THAT(next_pods(), ElementsAre("a2"));

  ASSERT_TRUE(sys::replace_file(dir / "objects/a.yaml", pod("a3"), 0644).has_value());
  EXPECT_THAT(next_pods(), ElementsAre("a3"));

  std::filesystem::rename(dir / "objects/a.yaml", dir / "objects/a.txt");
  EXPECT_THAT(next_pods(), IsEmpty());

  dir.write("c.yaml", pod("c"));
  std::filesystem::rename(dir / "c.yaml", dir / "objects/c.yaml");
  EXPECT_THAT(next_pods(), ElementsAre("c"));
}

TEST_F(FolderTest, ReadsAtOnceWhatNoEventHasToldOfYet) {
  Folder slow(path, pool, log, {.settling = 1h, .pause = 1h});
  dir.write("objects/a.yaml", pod("a"));
  group.spawn("slow", slow.follow());
  ASSERT_TRUE(aio::run(loop, slow.wait_loaded(in(kLong))).has_value());
  dir.write("objects/b.yaml", pod("b"));

  auto read = aio::run(loop, slow.reread());

  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_NE(slow.snapshot()->find_pod("default", "b"), nullptr);
  group.cancel();
  ASSERT_TRUE(aio::run(loop, group.join(in(kLong))).has_value());
}

TEST_F(FolderTest, ReadsAFileAgainThatChangedRightAfterItWasRead) {
  // Same size, same inode, and most likely the same time stamp.
  dir.write("objects/a.yaml", pod("a"));
  start();

  dir.write("objects/a.yaml", pod("b"));

  EXPECT_THAT(next_pods(), ElementsAre("b"));
}

TEST_F(FolderTest, TakesChangesThatComeTogetherTogether) {
  dir.write("objects/a.yaml", pod("a"));
  start();

  std::filesystem::remove(dir / "objects/a.yaml");
  dir.write("objects/b.yaml", pod("b"));
  dir.write("objects/c.yaml", pod("c"));

  EXPECT_THAT(next_pods(), ElementsAre("b", "c"));
}

TEST_F(FolderTest, ReportsABrokenFileAndGoesOnWithItsLastGoodObjects) {
  dir.write("objects/a.yaml", pod("a"));
  start();

  dir.write("objects/a.yaml", "a: 1\nb: [\n");
  ASSERT_TRUE(aio::run(loop, lines->wait_for("/a.yaml: line 3")).has_value());
  catch_up();

  EXPECT_THAT(pods(), ElementsAre("a", "mark-1"));
  EXPECT_THAT(lines->lines,
              Contains(HasSubstr("[error] objects: " + path + "/a.yaml: line 3")).Times(1));
}

TEST_F(FolderTest, WarnsOfAnObjectInTwoFiles) {
  dir.write("objects/a.yaml", pod("a"));
  start();

  dir.write("objects/b.yaml", pod("a", "2"));
  next_pods();

  EXPECT_EQ(folder.snapshot()->find_pod("default", "a")->uid, "2");
  EXPECT_THAT(lines->lines,
              Contains(HasSubstr("warning: objects: Pod default/a is in a.yaml and in b.yaml")));
}

TEST_F(FolderTest, ReadsANewFileWhenItsWriterHasClosedIt) {
  start();
  std::filesystem::create_directory(path);
  catch_up();

  std::ofstream writer(dir / "objects/a.yaml");
  writer << pod("a") << std::flush;
  catch_up();
  EXPECT_THAT(pods(), ElementsAre("mark-2"));

  writer << "---\n" << pod("b");
  writer.close();
  EXPECT_THAT(next_pods(), ElementsAre("a", "b", "mark-2"));
}

TEST_F(FolderTest, ReadsLinksAtOnce) {
  dir.write("elsewhere/a.yaml", pod("a"));
  dir.write("objects/other", pod("b"));
  start();

  std::filesystem::create_symlink(dir / "elsewhere/a.yaml", dir / "objects/a.yaml");
  EXPECT_THAT(next_pods(), ElementsAre("a"));
  std::filesystem::create_hard_link(dir / "objects/other", dir / "objects/b.yaml");
  EXPECT_THAT(next_pods(), ElementsAre("a", "b"));
}

TEST_F(FolderTest, ReadsAFileThatWasWrittenBeforeItHadAName) {
  std::filesystem::create_directory(path);
  start();

  sys::UniqueFd file(::open(path.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644));
  ASSERT_TRUE(file) << "no O_TMPFILE in " << path;
  const std::string text = pod("a");
  ASSERT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ASSERT_EQ(::linkat(AT_FDCWD, cat("/proc/self/fd/", file.get()).c_str(), AT_FDCWD,
                     (path + "/a.yaml").c_str(), AT_SYMLINK_FOLLOW),
            0);
  file.reset();

  EXPECT_THAT(next_pods(), ElementsAre("a"));
}

TEST_F(FolderTest, FollowsAConfigMapVolume) {
  dir.write("objects/..v1/a.yaml", pod("one"));
  dir.write("objects/..v2/a.yaml", pod("two"));
  std::filesystem::create_symlink("..v1", dir / "objects/..data");
  std::filesystem::create_symlink("..data/a.yaml", dir / "objects/a.yaml");
  start();
  EXPECT_THAT(pods(), ElementsAre("one"));

  std::filesystem::create_symlink("..v2", dir / "objects/..data_tmp");
  std::filesystem::rename(dir / "objects/..data_tmp", dir / "objects/..data");

  EXPECT_THAT(next_pods(), ElementsAre("two"));
}

TEST_F(FolderTest, WaitsForAFolderThatIsMissingTogetherWithThoseAboveIt) {
  Folder deep(dir / "x/y/z", pool, log, {.settling = 1ms, .pause = 1ms});
  group.spawn("deep", deep.follow());
  ASSERT_TRUE(aio::run(loop, deep.wait_loaded(in(kLong))).has_value());
  EXPECT_TRUE(lines->has("[error] objects: open " + (dir / "x/y/z") + ": no such file"));

  dir.write("x/y/z/a.yaml", pod("a"));
  auto found = aio::run(loop, deep.wait_for_pod("default", "a", "", in(kLong)));
  EXPECT_TRUE(found.has_value());

  group.cancel();
  ASSERT_TRUE(aio::run(loop, group.join(in(kLong))).has_value());
}

TEST_F(FolderTest, KeepsItsObjectsWhileItIsAwayAndTakesThoseOfTheNext) {
  dir.write("objects/a.yaml", pod("a"));
  start();

  std::filesystem::rename(path, dir / "old");
  ASSERT_TRUE(aio::run(loop, lines->wait_for("no such file or directory")).has_value());
  EXPECT_THAT(pods(), ElementsAre("a"));

  dir.write("objects/b.yaml", pod("b"));
  EXPECT_THAT(next_pods(), ElementsAre("b"));
  dir.write("objects/c.yaml", pod("c"));
  EXPECT_THAT(next_pods(), ElementsAre("b", "c"));
}

TEST_F(FolderTest, SurvivesThatAnotherFolderTakesItsPlace) {
  dir.write("objects/a.yaml", pod("a"));
  dir.write("other/b.yaml", pod("b"));
  start();

  std::filesystem::rename(path, dir / "old");
  std::filesystem::rename(dir / "other", path);
  auto found = aio::run(loop, folder.wait_for_pod("default", "b", "", in(kLong)));
  ASSERT_TRUE(found.has_value());
  dir.write("old/c.yaml", pod("c"));  // no longer ours
  catch_up();

  EXPECT_THAT(pods(), ElementsAre("b", "mark-1"));
}

TEST_F(FolderTest, WaitsForAFolderInWhosePlaceAFileIs) {
  dir.write("objects", "a file");
  start();
  EXPECT_TRUE(lines->has("not a directory"));

  std::filesystem::remove(path);
  dir.write("objects/a.yaml", pod("a"));

  EXPECT_THAT(next_pods(), ElementsAre("a"));
}

TEST_F(FolderTest, LooksAtEverythingAnewWhenEventsWereLost) {
  dir.write("objects/a.yaml", pod("a"));
  start();
  const int limit = std::stoi(sys::read_file("/proc/sys/fs/inotify/max_queued_events").value());

  for (int i = 0; i < limit / 2 + 10; ++i) {  // two names: equal neighbours are counted once
    dir.write("objects/x.txt", "");
    dir.write("objects/y.txt", "");
  }
  dir.write("objects/b.yaml", pod("b"));
  std::filesystem::remove(dir / "objects/a.yaml");

  EXPECT_THAT(next_pods(), ElementsAre("b"));
  dir.write("objects/c.yaml", pod("c"));
  EXPECT_THAT(next_pods(), ElementsAre("b", "c"));
}

TEST_F(FolderTest, ReadsNowAndThenWhileThereIsNoInotify) {
  dir.write("objects/a.yaml", pod("a"));
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{0, limit.rlim_max};
  // The sanitizer opens a pipe when it meets a virtual call for the first time.
  for (const auto* category :
       {&boost::system::system_category(), &boost::system::generic_category()}) {
    ASSERT_FALSE(boost::system::error_code(EMFILE, *category).message().empty());
  }

  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  group.spawn("folder", folder.follow());
  auto reported = aio::run(loop, lines->wait_for("cannot watch the objects folder"));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_TRUE(reported.has_value());

  auto found = aio::run(loop, folder.wait_for_pod("default", "a", "", in(kLong)));
  EXPECT_TRUE(found.has_value());
  dir.write("objects/b.yaml", pod("b"));
  EXPECT_THAT(next_pods(), ElementsAre("a", "b"));
}

TEST_F(FolderTest, DoesNotTakeWhatIsWrittenBesideForManifests) {
  dir.write("objects/a.yaml", pod("a"));
  start();

  dir.write("objects/events.jsonl", pod("b"));
  dir.write("objects/status/default/a.json", pod("c"));
  catch_up();

  EXPECT_THAT(pods(), ElementsAre("a", "mark-1"));
}

TEST_F(FolderTest, FindsAPodAtOnceThatIsThere) {
  dir.write("objects/a.yaml", pod("a", "1"));
  start();

  auto found = aio::run(loop, folder.wait_for_pod("default", "a", "1", in(0ms)));

  ASSERT_TRUE(found.has_value());
  EXPECT_EQ((*found)->uid, "1");
}

TEST_F(FolderTest, WaitsForAPodUntilAnEventBringsIt) {
  dir.write("objects/a.yaml", pod("a", "old"));
  start();
  Found found;
  group.spawn("waiter", keep(folder.wait_for_pod("default", "a", "new", in(kLong)), &found));
  EXPECT_FALSE(found.ended);

  dir.write("objects/b.yaml", pod("b"));
  next_pods();
  EXPECT_FALSE(found.ended);
  dir.write("objects/a.yaml", pod("a", "new"));
  next_pods();
  loop.poll();

  ASSERT_TRUE(found.ended);
  EXPECT_EQ(found.result.value()->uid, "new");
}

TEST_F(FolderTest, SaysWhatItHasInsteadOfThePodWhenTimeIsOver) {
  dir.write("objects/a.yaml", pod("a", "1"));
  start();

  auto absent = aio::run(loop, folder.wait_for_pod("default", "b", "", in(0ms)));
  auto stale = aio::run(loop, folder.wait_for_pod("default", "a", "2", in(0ms)));

  EXPECT_EQ(absent.error().code(), Errc::kNotFound);
  EXPECT_EQ(absent.error().text(), "pod default/b not found in " + path);
  EXPECT_EQ(stale.error().code(), Errc::kConflict);
  EXPECT_EQ(stale.error().text(), "expected pod UID \"2\" but got \"1\" from " + path);
}

TEST_F(FolderTest, CancellingEndsTheWaitForAPod) {
  start();
  Found found;
  group.spawn("waiter", keep(folder.wait_for_pod("default", "a", "", aio::kNoDeadline), &found));

  group.cancel();
  ASSERT_TRUE(aio::run(loop, group.join(in(kLong))).has_value());

  ASSERT_TRUE(found.ended);
  EXPECT_EQ(found.result.error().code(), Errc::kCancelled);
}

}  // namespace
}  // namespace mnet::manifests
