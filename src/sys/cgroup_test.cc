#include "sys/cgroup.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

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

}  // namespace
}  // namespace mnet::sys
