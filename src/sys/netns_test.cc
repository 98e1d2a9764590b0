#include "sys/netns.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/netns_id.h"
#include "base/result.h"
#include "sys/fd.h"
#include "sys/test_dir.h"

namespace mnet::sys {
namespace {

#define NEED_ROOT() \
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: makes network namespaces"

// A fresh namespace, held by its descriptor alone.
Result<NetNs> fresh_namespace() {
  Result<NetNs> made;
  std::thread([&made] {
    if (::unshare(CLONE_NEWNET) == 0) made = NetNs::own();
  }).join();
  return made;
}

TEST(NetNs, OpensAndComparesNamespaces) {
  auto own = NetNs::own();
  auto by_path = NetNs::open("/proc/self/ns/net");

  ASSERT_TRUE(own.has_value());
  ASSERT_TRUE(by_path.has_value());
  EXPECT_EQ(own->id(), by_path->id());
}

TEST(NetNs, NamesAPathThatDoesNotExist) {
  auto opened = NetNs::open("/var/run/netns/none-such");

  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code(), Errc::kNotFound);
  EXPECT_EQ(opened.error().text(), "open /var/run/netns/none-such: no such file or directory");
}

TEST(NetNs, RefusesFilesAndNamespacesOfOtherKinds) {
  const TestDir dir;
  const std::string file = dir.write("a", "");

  EXPECT_EQ(NetNs::open(file).error().text(), file + ": not a network namespace");
  EXPECT_EQ(NetNs::open("/proc/self/ns/mnt").error().text(),
            "/proc/self/ns/mnt: not a network namespace");
}

// 03, 12: row 165: an image without the link /var/run -> /run.
TEST(NetNs, LooksBelowRunWhenVarRunHasNothing) {
  NEED_ROOT();
  Result<NetNs> opened;
  bool ready = false;
  std::thread([&] {
    // A world of its own: an empty /var/run, and a namespace file below /run.
    if (::unshare(CLONE_FS | CLONE_NEWNS) != 0) return;
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
    if (::mount("none", "/run", "tmpfs", 0, nullptr) != 0) return;
    std::error_code failed;
    const bool is_link = std::filesystem::is_symlink("/var/run", failed);
    // Where /var/run is a link it cannot be mounted over; /var gets an empty one instead.
    if (is_link && ::mount("none", "/var", "tmpfs", 0, nullptr) != 0) return;
    if (is_link) std::filesystem::create_directory("/var/run", failed);
    if (!is_link && ::mount("none", "/var/run", "tmpfs", 0, nullptr) != 0) return;
    std::filesystem::create_directory("/run/netns", failed);
    const UniqueFd file(::open("/run/netns/x", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (!file) return;
    if (::mount("/proc/thread-self/ns/net", "/run/netns/x", nullptr, MS_BIND, nullptr) != 0) return;
    ready = true;
    opened = NetNs::open("/var/run/netns/x");
  }).join();

  ASSERT_TRUE(ready);
  ASSERT_TRUE(opened.has_value()) << opened.error().text();
  EXPECT_EQ(opened->id(), NetNs::own()->id());
}

TEST(ScopedNetNs, IsInsideUntilItIsLeft) {
  NEED_ROOT();
  auto target = fresh_namespace();
  ASSERT_TRUE(target.has_value());
  NetnsId inside, after;
  bool astray = true;

  std::thread([&] {
    {
      auto scope = ScopedNetNs::enter(*target);
      inside = NetNs::own()->id();
    }
    after = NetNs::own()->id();
    astray = this_thread_is_astray();
  }).join();

  EXPECT_EQ(inside, target->id());
  EXPECT_EQ(after, NetNs::own()->id());
  EXPECT_FALSE(astray);
}

TEST(ScopedNetNs, MarksAThreadThatCannotComeBack) {
  NEED_ROOT();
  auto target = fresh_namespace();
  ASSERT_TRUE(target.has_value());
  bool left = true;
  bool astray = false;

  std::thread([&] {
    auto scope = ScopedNetNs::enter(*target);
    // Without the right to enter namespaces there is no way back.
    if (::unshare(CLONE_FS) != 0 || ::syscall(SYS_setresuid, 65534, 65534, 65534) != 0) return;
    left = scope->leave();
    astray = this_thread_is_astray();
  }).join();

  EXPECT_FALSE(left);
  EXPECT_TRUE(astray);
}

}  // namespace
}  // namespace mnet::sys
