#include "sys/cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::sys {
namespace {

CgroupFiles files_of(const TestDir& dir, std::string_view membership) {
  return {.membership = dir.write("membership", membership), .mount = dir / "fs"};
}

TEST(MemoryLimit, IsTheSmallestOnTheWayUpInVersion2) {
  const TestDir dir;
  dir.write("fs/kubepods/memory.max", "50000000\n");
  dir.write("fs/kubepods/pod1/memory.max", "max\n");
  dir.write("fs/kubepods/pod1/c/memory.max", "52428800\n");

  EXPECT_EQ(memory_limit(files_of(dir, "0::/kubepods/pod1/c\n")), 50000000u);
  EXPECT_EQ(memory_limit(files_of(dir, "0::/other\n")), std::nullopt);
}

TEST(MemoryLimit, IsFoundAtTheMountInsideACgroupNamespace) {
  const TestDir dir;
  dir.write("fs/memory.max", "1048576\n");

  EXPECT_EQ(memory_limit(files_of(dir, "0::/\n")), 1048576u);
}

TEST(MemoryLimit, IsReadFromTheMemoryControllerInVersion1) {
  const TestDir dir;
  dir.write("fs/memory/kubepods/c/memory.limit_in_bytes", "104857600\n");
  dir.write("fs/memory/memory.limit_in_bytes", "9223372036854771712\n");
  const std::string membership =
      "12:cpu,cpuacct:/kubepods/c\n4:memory:/kubepods/c\n0::/system.slice\n";

  EXPECT_EQ(memory_limit(files_of(dir, membership)), 104857600u);
}

TEST(MemoryLimit, FallsBackToTheMountWhenVersion1NamesAPathOfTheHost) {
  const TestDir dir;
  dir.write("fs/memory/memory.limit_in_bytes", "104857600\n");

  EXPECT_EQ(memory_limit(files_of(dir, "4:memory:/docker/abc\n")), 104857600u);
}

TEST(MemoryLimit, IsNoneWhenUnlimitedOrUnreadable) {
  const TestDir dir;
  dir.write("fs/memory.max", "max\n");

  EXPECT_EQ(memory_limit(files_of(dir, "0::/\n")), std::nullopt);
  EXPECT_EQ(memory_limit(files_of(dir, "nonsense\n")), std::nullopt);
  EXPECT_EQ(memory_limit({.membership = dir / "none", .mount = dir / "fs"}), std::nullopt);
}

TEST(OomKills, AreCountedByTheGroupItselfInBothVersions) {
  const TestDir dir;
  dir.write("fs/pod/c/memory.events",
            "low 0\nhigh 0\nmax 7\noom 4\noom_kill 3\noom_group_kill 0\n");
  dir.write("fs/memory/pod/c/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");

  EXPECT_EQ(oom_kills(files_of(dir, "0::/pod/c\n")), 3u);
  EXPECT_EQ(oom_kills(files_of(dir, "4:memory:/pod/c\n")), 5u);
}

TEST(OomKills, AreFoundAtTheMountInsideACgroupNamespace) {
  const TestDir dir;
  dir.write("fs/memory.events", "oom_kill 3\n");

  EXPECT_EQ(oom_kills(files_of(dir, "0::/kubepods/c\n")), 3u);
}

TEST(OomKills, AreUnknownWhereTheKernelDoesNotTell) {
  const TestDir dir;
  dir.write("fs/memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\n");

  EXPECT_EQ(oom_kills(files_of(dir, "4:memory:/\n")), std::nullopt);
  EXPECT_EQ(oom_kills({.membership = dir / "none", .mount = dir / "fs"}), std::nullopt);
}

std::string text_of(const TestDir& dir, const std::string& name) {
  return read_file(dir / name).value_or("none");
}

// The kubelet sets it for every container.
TEST(KilledAsOne, IsOverWhereTheGroupsFileCanBeWritten) {
  const TestDir dir;
  dir.write("fs/pod/memory.oom.group", "1\n");
  dir.write("fs/pod/c/memory.oom.group", "1\n");
  dir.write("fs/pod/c/cgroup.procs", "1\n");
  const CgroupFiles files = files_of(dir, "0::/pod/c\n");

  EXPECT_TRUE(is_killed_as_one(files));
  EXPECT_EQ(be_killed_one_by_one(files).value(), true);

  EXPECT_FALSE(is_killed_as_one(files));
  EXPECT_EQ(text_of(dir, "fs/pod/c/memory.oom.group"), "0\n");
  EXPECT_EQ(text_of(dir, "fs/pod/memory.oom.group"), "1\n") << "others are in that group, too";
  EXPECT_EQ(be_killed_one_by_one(files).value(), false);
}

TEST(KilledAsOne, IsSoAtTheMountInsideACgroupNamespace) {
  const TestDir dir;
  dir.write("fs/memory.oom.group", "1\n");
  dir.write("fs/cgroup.procs", "1\n");

  EXPECT_TRUE(is_killed_as_one(files_of(dir, "0::/kubepods/c\n")));
  EXPECT_FALSE(is_killed_as_one(files_of(dir, "4:memory:/kubepods/c\n")));
}

TEST(KilledAsOne, IsNotChangedWithoutTheFile) {
  const TestDir dir;
  dir.write("fs/cgroup.procs", "1\n");

  EXPECT_EQ(be_killed_one_by_one(files_of(dir, "0::/\n")).value(), false);
}

// As the kernel shows a group; its folders below are there already, because it fills them.
class ChildGroupTest : public ::testing::Test {
 protected:
  ChildGroupTest() {
    dir_.write("fs/c/cgroup.procs", cat(::getpid(), "\n"));
    dir_.write("fs/c/cgroup.controllers", "cpu memory pids\n");
    dir_.write("fs/c/cgroup.subtree_control", "");
    dir_.write("fs/c/memory.max", "285212672\n");
    dir_.write("fs/c/multus-daemon/cgroup.procs", "");
    dir_.write("fs/c/multus-delegates/memory.max", "max\n");
    dir_.write("fs/c/multus-delegates/memory.events", "oom 2\noom_kill 2\n");
  }
  std::string why_not() const {
    const auto group = ChildGroup::make(16u << 20, files_of(dir_, "0::/c\n"));
    return group ? "it was made" : group.error().text();
  }

  TestDir dir_;
};

TEST_F(ChildGroupTest, MayTakeWhatTheLimitLeavesAboveOurOwn) {
  const auto group = ChildGroup::make(16u << 20, files_of(dir_, "0::/c\n"));

  ASSERT_TRUE(group.has_value()) << group.error().text();
  EXPECT_GE(group->fd(), 0);
  EXPECT_EQ(text_of(dir_, "fs/c/multus-delegates/memory.max"), cat((272u - 16u) << 20));
  EXPECT_EQ(text_of(dir_, "fs/c/multus-daemon/cgroup.procs"), "0") << "we have moved";
  EXPECT_EQ(text_of(dir_, "fs/c/cgroup.subtree_control"), "+memory");
  EXPECT_EQ(group->oom_kills(), 2u);
}

TEST_F(ChildGroupTest, NeedsTheMemoryControllerALimitAndAGroupOfOurOwn) {
  EXPECT_THAT(ChildGroup::make(1, files_of(dir_, "4:memory:/c\n")).error().text(),
              testing::HasSubstr("no control groups of version 2"));
  dir_.write("fs/c/cgroup.procs", cat(::getpid(), "\n4711\n"));
  EXPECT_THAT(why_not(), testing::HasSubstr("process 4711 is in "));
  dir_.write("fs/c/memory.max", "max\n");
  EXPECT_THAT(why_not(), testing::HasSubstr("no memory limit"));
  dir_.write("fs/c/memory.max", "20971520\n");
  EXPECT_THAT(why_not(), testing::HasSubstr("the memory limit is 20 MiB only"));
  dir_.write("fs/c/cgroup.controllers", "cpu pids\n");
  EXPECT_THAT(why_not(), testing::HasSubstr("has no memory controller"));
  EXPECT_EQ(text_of(dir_, "fs/c/multus-daemon/cgroup.procs"), "");
}

TEST_F(ChildGroupTest, LeavesAllAsItWasWhereItCannotBeMade) {
  ASSERT_TRUE(remove_file(dir_ / "fs/c/multus-delegates/memory.max").value_or(false));

  EXPECT_THAT(why_not(), testing::HasSubstr("memory.max: no such file"));

  EXPECT_EQ(text_of(dir_, "fs/c/cgroup.subtree_control"), "-memory");
  EXPECT_THAT(text_of(dir_, "fs/c/cgroup.procs"), testing::StartsWith("0")) << "we are back";
}

}  // namespace
}  // namespace mnet::sys
