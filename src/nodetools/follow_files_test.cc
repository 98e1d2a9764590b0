#include "nodetools/follow_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <ios>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "aio/all.h"
#include "aio/run.h"
#include "sys/fd.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::nodetools {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

class FollowFiles : public testing::Test {
 protected:
  void follow(const std::set<std::string>& paths, std::string root = {}) {
    follower = std::make_unique<FileFollower>(
        FileFollower::make(loop.get_executor(),
                           {.quiet = 20ms, .longest = 200ms, .root = std::move(root)})
            .value());
    ASSERT_TRUE(follower->follow(paths).has_value());
  }
  // Whether a change is told within a time that is short if none is expected.
  bool is_told(std::chrono::milliseconds within = 60s) {
    const auto deadline = std::chrono::steady_clock::now() + within;
    return aio::run(loop, aio::with_deadline(follower->wait(), deadline)).has_value();
  }
  bool is_quiet() { return !is_told(150ms); }

  aio::asio::io_context loop;
  sys::TestDir dir;
  std::unique_ptr<FileFollower> follower;
};

// 04, 4: row 91.
TEST_F(FollowFiles, TellsOfWritesInPlaceReplacementAndRebirth) {
  const std::string path = dir.write("f", "1");
  follow({path});
  EXPECT_TRUE(is_quiet());

  std::ofstream(path, std::ios::app) << "2";
  EXPECT_TRUE(is_told());
  EXPECT_TRUE(is_quiet());

  ASSERT_TRUE(sys::replace_file(path, "3", 0644).has_value());
  EXPECT_TRUE(is_told());
  std::ofstream(path, std::ios::app) << "4";  // the new file is watched, too
  EXPECT_TRUE(is_told());

  fs::remove(path);
  EXPECT_TRUE(is_told());
  dir.write("f", "5");
  EXPECT_TRUE(is_told());
  EXPECT_TRUE(is_quiet());
}

// 04, 4: rows 91 and 102: what kubelet does with a ConfigMap's volume.
TEST_F(FollowFiles, TellsOfAVolumeThatIsSwapped) {
  dir.write("volume/..1/f", "1");
  dir.write("volume/..2/f", "2");
  fs::create_symlink("..1", dir / "volume/..data");
  fs::create_symlink("..data/f", dir / "volume/f");
  follow({dir / "volume/f"});

  fs::create_symlink("..2", dir / "volume/..data_tmp");
  fs::rename(dir / "volume/..data_tmp", dir / "volume/..data");

  EXPECT_TRUE(is_told());
  dir.write("volume/..2/f", "3");
  EXPECT_TRUE(is_told());
  dir.write("volume/..1/f", "old");
  EXPECT_TRUE(is_quiet());
}

TEST_F(FollowFiles, FollowsAbsoluteLinksInTheRootThatIsNamed) {
  const std::string path = dir.write("host/real/f", "1");
  fs::create_symlink("/real/f", dir / "host/link");
  follow({dir / "host/link"}, dir / "host");
  EXPECT_TRUE(is_quiet());

  std::ofstream(path, std::ios::app) << "2";

  EXPECT_TRUE(is_told());
}

// 04, 4: row 92.
TEST_F(FollowFiles, WaitsForWhatDoesNotExistYet) {
  follow({dir / "a/b/f"});
  EXPECT_TRUE(is_quiet());

  fs::create_directories(dir / "a/b");
  EXPECT_TRUE(is_told());
  dir.write("a/b/f", "1");
  EXPECT_TRUE(is_told());
}

TEST_F(FollowFiles, IsNotDisturbedByNeighbours) {
  follow({dir.write("f", "1")});

  dir.write("g", "1");

  EXPECT_TRUE(is_quiet());
}

TEST_F(FollowFiles, TellsWhatHappenedWhileNobodyWaited) {
  const std::string path = dir.write("f", "1");
  follow({path});

  std::ofstream(path, std::ios::app) << "2";
  ASSERT_TRUE(follower->follow({path, dir / "g"}).has_value());

  EXPECT_TRUE(is_told());
}

// A change through a mapping causes no event.
TEST_F(FollowFiles, LooksAgainWhereNoEventComes) {
  const std::string path = dir.write("f", "1");
  fs::last_write_time(path, fs::file_time_type::clock::now() - 1h);
  const sys::UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  void* const mapped = ::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  follower = std::make_unique<FileFollower>(
      FileFollower::make(loop.get_executor(), {.quiet = 20ms, .longest = 200ms, .look_again = 30ms})
          .value());
  ASSERT_TRUE(follower->follow({path}).has_value());
  EXPECT_TRUE(is_quiet());

  *static_cast<char*>(mapped) = '2';
  ASSERT_EQ(::msync(mapped, 1, MS_SYNC), 0);

  EXPECT_TRUE(is_told());
  ::munmap(mapped, 1);
}

// As on a node where other programs have used up what the kernel has: here, all descriptors.
TEST_F(FollowFiles, LooksWhereThereIsNoInotify) {
  const std::string path = dir.write("f", "1");
  std::string warning;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  auto made = FileFollower::make(loop.get_executor(),
                                 {.quiet = 20ms,
                                  .look_alone = 30ms,
                                  .warn = [&warning](const std::string& text) { warning = text; }});
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(made.has_value());
  follower = std::make_unique<FileFollower>(*std::move(made));
  ASSERT_TRUE(follower->follow({path}).has_value());
  EXPECT_THAT(warning, HasSubstr("inotify_init"));
  EXPECT_TRUE(is_quiet());

  dir.write("f", "12");

  EXPECT_TRUE(is_told());
}

TEST_F(FollowFiles, EndsCircularLinks) {
  fs::create_symlink("b", dir / "a");
  fs::create_symlink("a", dir / "b");
  follow({dir / "a"});

  fs::remove(dir / "b");
  EXPECT_TRUE(is_told());
}

}  // namespace
}  // namespace mnet::nodetools
