#include "sys/socket_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"
#include "sys/fd.h"
#include "sys/file.h"
#include "sys/test_dir.h"
#include "sys/test_limits.h"

namespace mnet::sys {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

bool can_connect(const std::string& path) {
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

mode_t mode_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

TEST(SocketFile, AppearsUnderItsNameOnlyWhenPublished) {
  const TestDir dir;
  const std::string path = dir / "multus.sock";

  auto socket = SocketFile::make(path);
  ASSERT_TRUE(socket.has_value()) << socket.error().text();
  EXPECT_FALSE(fs::exists(path));
  ASSERT_TRUE(socket->publish().has_value());

  EXPECT_TRUE(can_connect(path));
  EXPECT_EQ(mode_of(path), 0600u);
  EXPECT_EQ(list_directory(dir.path())->size(), 1u);
  EXPECT_THAT(socket->warnings(), IsEmpty());
}

TEST(SocketFile, HasModeZeroSixHundredWhateverTheUmask) {
  const TestDir dir;
  for (const mode_t umask : {0000u, 0777u}) {
    const mode_t before = ::umask(umask);

    auto socket = SocketFile::make(dir / "multus.sock");

    ::umask(before);
    ASSERT_TRUE(socket.has_value());
    ASSERT_TRUE(socket->publish().has_value());
    EXPECT_EQ(mode_of(dir / "multus.sock"), 0600u);
  }
}

TEST(SocketFile, MakesMissingDirectoriesForItsOwnerOnly) {
  const TestDir dir;

  auto socket = SocketFile::make(dir / "run/multus/multus.sock");

  ASSERT_TRUE(socket.has_value());
  EXPECT_EQ(mode_of(dir / "run"), 0700u);
  EXPECT_EQ(mode_of(dir / "run/multus"), 0700u);
}

TEST(SocketFile, WarnsAboutADirectoryThatOthersMayWriteAndLeavesItsMode) {
  const TestDir dir;
  ASSERT_EQ(::chmod(dir.path().c_str(), 0775), 0);

  auto socket = SocketFile::make(dir / "multus.sock");

  ASSERT_TRUE(socket.has_value());
  EXPECT_THAT(socket->warnings(), ElementsAre(HasSubstr(dir.path())));
  EXPECT_EQ(mode_of(dir.path()), 0775u);
}

// 03, 12: row 77: the socket of a killed daemon.
TEST(SocketFile, ReplacesASocketThatNobodyServes) {
  const TestDir dir;
  const std::string path = dir / "multus.sock";
  {
    const UniqueFd dead(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }

  auto socket = SocketFile::make(path);
  ASSERT_TRUE(socket.has_value());
  EXPECT_FALSE(socket->is_served());
  ASSERT_TRUE(socket->publish().has_value());

  EXPECT_TRUE(can_connect(path));
}

// A daemon that took this for "no daemon" would take the name without the other one's consent.
TEST(SocketFile, IsServedAsFarAsAShortageOfDescriptorsTells) {
  const TestDir dir;
  auto socket = SocketFile::make(dir / "multus.sock");
  ASSERT_TRUE(socket.has_value());
  EXPECT_FALSE(socket->is_served());
  const DescriptorLimit none(0);

  EXPECT_TRUE(socket->is_served());
}

// 03, 12: row 10: surge update.
TEST(SocketFile, TakesOverFromALivingOneWhichThenLeavesTheNameAlone) {
  const TestDir dir;
  const std::string path = dir / "multus.sock";
  auto first = std::make_unique<SocketFile>(*SocketFile::make(path));
  ASSERT_TRUE(first->publish().has_value());

  auto second = SocketFile::make(path);
  ASSERT_TRUE(second.has_value());
  EXPECT_TRUE(second->is_served());
  ASSERT_TRUE(second->publish().has_value());
  first.reset();

  EXPECT_TRUE(can_connect(path));
}

TEST(SocketFile, RemovesAnEmptyDirectoryInItsPlaceWithAWarning) {
  const TestDir dir;
  fs::create_directory(dir / "multus.sock");

  auto socket = SocketFile::make(dir / "multus.sock");
  ASSERT_TRUE(socket.has_value());
  EXPECT_THAT(socket->warnings(), ElementsAre(HasSubstr("empty directory")));
  ASSERT_TRUE(socket->publish().has_value());

  EXPECT_TRUE(can_connect(dir / "multus.sock"));
}

TEST(SocketFile, LeavesAnythingElseOfThatNameUntouched) {
  const TestDir dir;
  const std::string file = dir.write("file", "precious");
  dir.write("full/inside", "");
  fs::create_symlink("elsewhere", dir / "link");

  for (const char* name : {"file", "full", "link"}) {
    auto socket = SocketFile::make(dir / name);

    ASSERT_FALSE(socket.has_value()) << name;
    EXPECT_EQ(socket.error().code(), Errc::kConflict);
    EXPECT_THAT(socket.error().text(), HasSubstr(dir / name));
  }
  EXPECT_EQ(read_file(file).value(), "precious");
  EXPECT_TRUE(fs::exists(dir / "full/inside"));
  EXPECT_TRUE(fs::is_symlink(dir / "link"));
  EXPECT_EQ(list_directory(dir.path())->size(), 3u);
}

TEST(SocketFile, PublishLooksAgain) {
  const TestDir dir;
  auto socket = SocketFile::make(dir / "multus.sock");
  ASSERT_TRUE(socket.has_value());
  dir.write("multus.sock", "came later");

  EXPECT_EQ(socket->publish().error().code(), Errc::kConflict);
  EXPECT_EQ(read_file(dir / "multus.sock").value(), "came later");
}

TEST(SocketFile, RefusesAPathThatTheKernelWouldCut) {
  const TestDir dir;
  const std::string directory = dir / std::string(107 - dir.path().size() - 1 - 12, 'd');
  const std::string fits = directory + "/multus.sock";
  const std::string too_long = directory + "x/multus.sock";
  ASSERT_EQ(fits.size(), 107u);

  auto good = SocketFile::make(fits);
  auto bad = SocketFile::make(too_long);

  ASSERT_TRUE(good.has_value()) << good.error().text();
  ASSERT_TRUE(good->publish().has_value());
  EXPECT_TRUE(can_connect(fits));
  ASSERT_FALSE(bad.has_value());
  EXPECT_THAT(bad.error().text(), HasSubstr(too_long));
}

TEST(SocketFile, TakesItsNameAwayWhenItEnds) {
  const TestDir dir;
  {
    auto socket = SocketFile::make(dir / "a.sock");
    auto published = SocketFile::make(dir / "b.sock");
    ASSERT_TRUE(published->publish().has_value());
    const UniqueFd listener = published->take_listener();
    EXPECT_TRUE(can_connect(dir / "b.sock"));
  }

  EXPECT_THAT(list_directory(dir.path()).value(), IsEmpty());
}

TEST(SocketFile, SweepsTemporariesOfDaemonsThatWereKilled) {
  const TestDir dir;
  auto alive = SocketFile::make(dir / "a.sock");
  ASSERT_TRUE(alive.has_value());
  const std::string dead = dir / ".s-dead00";
  {
    const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, dead.data(), dead.size());
    ASSERT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }

  auto next = SocketFile::make(dir / "a.sock");

  ASSERT_TRUE(next.has_value());
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_EQ(list_directory(dir.path())->size(), 2u);
}

TEST(SocketFile, CleansThePath) {
  const TestDir dir;

  auto socket = SocketFile::make(dir.path() + "//x/../multus.sock");
  ASSERT_TRUE(socket.has_value());
  ASSERT_TRUE(socket->publish().has_value());

  EXPECT_TRUE(can_connect(dir / "multus.sock"));
}

TEST(SocketFile, KnowsWhatHasBecomeOfItsName) {
  using Name = SocketFile::Name;
  const TestDir dir;
  const std::string path = dir / "multus.sock";
  auto first = SocketFile::make(path);
  ASSERT_TRUE(first && first->publish());
  EXPECT_EQ(first->name(), Name::kOurs);

  auto second = SocketFile::make(path);
  ASSERT_TRUE(second && second->publish());
  EXPECT_EQ(first->name(), Name::kTaken);
  EXPECT_EQ(second->name(), Name::kOurs);

  fs::remove(path);
  EXPECT_EQ(second->name(), Name::kGone);
}

TEST(RemoveDeadSockets, LeavesThoseAloneThatAreServedOrHaveOtherNames) {
  const TestDir dir;
  {
    auto dead = SocketFile::make(dir / "x-dead.sock");
    auto other = SocketFile::make(dir / "other.sock");
    ASSERT_TRUE(dead && dead->publish() && other && other->publish());
    fs::rename(dir / "x-dead.sock", dir / "x-left.sock");
    fs::rename(dir / "other.sock", dir / "left.sock");
  }
  auto living = SocketFile::make(dir / "x-living.sock");
  ASSERT_TRUE(living && living->publish());
  dir.write("x-file", "text");

  remove_dead_sockets(dir.path(), "x-");

  EXPECT_FALSE(fs::exists(dir / "x-left.sock"));
  EXPECT_TRUE(fs::exists(dir / "left.sock"));
  EXPECT_TRUE(fs::exists(dir / "x-living.sock"));
  EXPECT_TRUE(fs::exists(dir / "x-file"));
}

}  // namespace
}  // namespace mnet::sys
