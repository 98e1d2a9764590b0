#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>

#include "aio/run.h"
#include "base/error.h"
#include "base/reading.h"
#include "base/text.h"
#include "plugin/plugin.h"
#include "plugin/plugin_fixture.h"
#include "sys/fd.h"
#include "sys/file.h"
#include "sys/test_limits.h"
#include "sys/test_programs.h"

namespace mnet::plugin {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

using FindPlugin = PluginTest;
using PluginWorld = PluginTest;

// Row I1.
TEST_F(FindPlugin, SaysWhatIsWrong) {
  EXPECT_EQ(find_plugin({}, "", {"/a"}).error().text(), "no plugin name provided");
  EXPECT_EQ(find_plugin({}, "../x", {"/a"}).error().text(), "invalid plugin name: ../x");
  EXPECT_EQ(find_plugin({}, "x", {}).error().text(), "no paths provided");
  EXPECT_EQ(find_plugin({}, "x", {"/a", "/b"}).error().text(),
            "failed to find plugin \"x\" in path [/a /b]");
  EXPECT_EQ(find_plugin({}, "x", {"/a", "/b", "/a"}).error().text(),
            "failed to find plugin \"x\" in path [/a /b]");
}

// Row I2.
TEST_F(FindPlugin, TakesTheFirstRegularFileLinksFollowed) {
  fs::create_directories(dir / "a/x");
  dir.write("target", "");
  fs::create_directory(dir / "b");
  fs::create_symlink(dir / "target", dir / "b/x");
  dir.write("c/x", "");

  EXPECT_EQ(find_plugin({}, "x", {dir / "a", dir / "b", dir / "c"}).value(), dir / "b/x");
  EXPECT_FALSE(find_plugin({}, "..", {dir / "a"}).has_value());
  EXPECT_FALSE(find_plugin({}, ".", {dir / "a"}).has_value());
}

TEST_F(FindPlugin, LetsAFileThatCannotBeExecutedShadowALaterOne) {
  dir.write("a/x", "", 0644);
  dir.write("b/x", "", 0755);

  EXPECT_EQ(find_plugin({}, "x", {dir / "a", dir / "b"}).value(), dir / "a/x");
}

// An existing plugin is never reported as missing.
TEST_F(FindPlugin, SaysThatTheMachineLacksDescriptors) {
  dir.write("a/x", "", 0755);
  const sys::DescriptorLimit none(0);

  const auto found = find_plugin({}, "x", {dir / "a"});

  ASSERT_FALSE(found.has_value());
  EXPECT_TRUE(is_shortage(found.error())) << found.error().text();
}

// Row I3.
TEST_F(FindPlugin, DoesNotTakeAnEmptyElementForTheWorkingDirectory) {
  const fs::path before = fs::current_path();
  dir.write("x", "", 0755);
  fs::current_path(dir.path());

  auto found = find_plugin({}, "x", {"", "/none"});
  auto here = find_plugin({}, "x", {"."});

  fs::current_path(before);
  EXPECT_FALSE(found.has_value());
  EXPECT_EQ(here.value(), "./x");
}

TEST_F(FindPlugin, TellsMachineCodeFromScripts) {
  EXPECT_TRUE(is_machine_code({}, sys::test_tool("instant-delegate")));
  EXPECT_FALSE(is_machine_code({}, script("echo")));
  EXPECT_FALSE(is_machine_code({}, dir.write("short",
                                             "\x7f"
                                             "EL",
                                             0755)));
  EXPECT_FALSE(is_machine_code({}, dir / "none"));
  EXPECT_FALSE(is_machine_code({}, dir.path()));
}

#define NEED_ROOT() \
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: chroot and mount namespaces"

// Row 135 of chapter 03.
TEST_F(PluginWorld, ChrootIsSearchedAndRunFromInside) {
  NEED_ROOT();
  fs::create_directories(dir / "host/opt/cni/bin");
  fs::create_directories(dir / "host/usr/lib/cni");
  fs::copy_file(sys::test_tool("instant-delegate"), dir / "host/usr/lib/cni/plain");
  fs::create_symlink("/usr/lib/cni/plain", dir / "host/opt/cni/bin/linked");
  const World world{.root = dir / "host", .mount_namespace = ""};

  for (const char* type : {"plain", "linked"}) {
    auto found = find_plugin(world, type, {"/opt/cni/bin", "/usr/lib/cni"});
    ASSERT_TRUE(found.has_value()) << found.error().text();
    EXPECT_TRUE(is_machine_code(world, *found));
    Invocation what = call(*found);
    what.world = world;
    auto output = aio::run(run(std::move(what)));

    ASSERT_TRUE(output.has_value()) << output.error().text();
    EXPECT_THAT(output->out, HasSubstr(R"("name":"eth0")"));
  }
}

TEST_F(PluginWorld, ChrootCannotBeLeftByALink) {
  NEED_ROOT();
  fs::create_directories(dir / "host/bin");
  dir.write("outside", "");
  fs::create_symlink("../../outside", dir / "host/bin/x");
  fs::create_symlink(dir / "outside", dir / "host/bin/y");

  EXPECT_FALSE(find_plugin({.root = dir / "host", .mount_namespace = ""}, "x", {"/bin"}));
  EXPECT_FALSE(find_plugin({.root = dir / "host", .mount_namespace = ""}, "y", {"/bin"}));
}

TEST_F(PluginWorld, NamesAChrootThatIsNotThere) {
  EXPECT_THAT(
      find_plugin({.root = dir / "none", .mount_namespace = ""}, "x", {"/bin"}).error().text(),
      HasSubstr(dir / "none"));
}

// Waits until the plugin waits for its stdin, which is closed only after `started`.
void await_sleep(pid_t pid) {
  for (;;) {
    const std::string stat = sys::read_file(cat("/proc/", pid, "/stat")).value_or("");
    if (stat.find("(plugin) S ") != std::string::npos) return;
    ::sched_yield();
  }
}

// Row 136 of chapter 03.
TEST_F(PluginWorld, ChrootedPluginIsAtItsRootWithNothingOfOurs) {
  NEED_ROOT();
  fs::create_directories(dir / "host/bin");
  fs::copy_file(sys::test_tool("instant-delegate"), dir / "host/bin/plugin");
  const sys::UniqueFd leaky(::open("/dev/null", O_RDONLY));  // NOLINT(android-cloexec-open): leaks
  Invocation what = call("/bin/plugin");
  what.world.root = dir / "host";
  std::string root, cwd, status;
  std::size_t descriptors = 0;
  what.started = [&](pid_t pid) {
    await_sleep(pid);
    root = fs::read_symlink(cat("/proc/", pid, "/root")).string();
    cwd = fs::read_symlink(cat("/proc/", pid, "/cwd")).string();
    status = sys::read_file(cat("/proc/", pid, "/status")).value();
    descriptors = sys::list_directory(cat("/proc/", pid, "/fd")).value().size();
  };

  ASSERT_TRUE(aio::run(run(std::move(what))).has_value());

  EXPECT_EQ(root, dir / "host");
  EXPECT_EQ(cwd, dir / "host");
  EXPECT_EQ(descriptors, 3u);
  EXPECT_THAT(status, HasSubstr("SigBlk:\t0000000000000000"));
  EXPECT_THAT(status, HasSubstr("SigIgn:\t0000000000000000"));
}

// Mounts of its own, in which `where` holds a plugin that is invisible elsewhere. Lives with the
// object.
class OtherMounts {
 public:
  explicit OtherMounts(const std::string& where) {
    std::thread([this, &where] {
      if (::unshare(CLONE_FS | CLONE_NEWNS) != 0) return;
      if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
      auto bytes = sys::read_file(sys::test_tool("instant-delegate"));
      if (!bytes || ::mount("none", where.c_str(), "tmpfs", 0, nullptr) != 0) return;
      if (!sys::replace_file(where + "/real", *bytes, 0755)) return;
      if (::symlink((where + "/real").c_str(), (where + "/plugin").c_str()) != 0) return;
      fd_.reset(::open("/proc/thread-self/ns/mnt", O_RDONLY | O_CLOEXEC));
    }).join();
  }
  explicit operator bool() const { return static_cast<bool>(fd_); }
  std::string path() const { return cat("/proc/", ::getpid(), "/fd/", fd_.get()); }

 private:
  sys::UniqueFd fd_;
};

TEST_F(PluginWorld, MountNamespaceIsSearchedAndRunFromInsideAndWinsOverAChroot) {
  NEED_ROOT();
  fs::create_directory(dir / "bin");
  const OtherMounts mounts(dir / "bin");
  ASSERT_TRUE(mounts);
  const World world{.root = "/none", .mount_namespace = mounts.path()};

  auto found = find_plugin(world, "plugin", {"/none", dir / "bin"});
  ASSERT_TRUE(found.has_value()) << found.error().text();
  EXPECT_EQ(*found, dir / "bin/plugin");
  EXPECT_FALSE(find_plugin({}, "plugin", {dir / "bin"}).has_value());

  Invocation what = call(*found);
  what.world = world;
  auto output = aio::run(run(std::move(what)));
  ASSERT_TRUE(output.has_value()) << output.error().text();
  EXPECT_THAT(output->out, HasSubstr("10.9.8.7/24"));
}

TEST_F(PluginWorld, NamesAMountNamespaceThatIsNone) {
  Invocation what = call("/bin/true");
  what.world.mount_namespace = "/proc/self/ns/net";

  EXPECT_THAT(find_plugin(what.world, "x", {"/bin"}).error().text(),
              HasSubstr("not a mount namespace"));
  EXPECT_THAT(aio::run(run(std::move(what))).error().text(), HasSubstr("not a mount namespace"));
}

}  // namespace
}  // namespace mnet::plugin
