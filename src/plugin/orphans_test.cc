#include "plugin/orphans.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/prctl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "sys/fd.h"
#include "sys/file.h"
#include "sys/spawn.h"
#include "sys/test_dir.h"

namespace mnet::plugin {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

// Unique to this process and test: what another one killed may take a moment to go.
std::string variable() {
  static const pid_t self = ::getpid();  // of the parent, also in a forked child
  return cat("MNET_", testing::UnitTest::GetInstance()->current_test_info()->name(), "_", self);
}

std::string own_command() { return std::string(trim(sys::read_file("/proc/self/comm").value())); }

// A plugin that has a child of its own, as those with IPAM have; ready when it says so.
sys::Child start_pair(const sys::TestDir& dir, std::string_view trap = "") {
  const std::string path = dir.write(
      "pair", cat("#!/bin/sh\n", trap, "\nsleep 1000 & echo up; wait; wait; wait\n"), 0755);
  auto child = sys::Child::spawn(
      {.path = path, .env = {variable() + "=id7", "CNI_CONTAINERID=c1", "PATH=/bin:/usr/bin"}});
  EXPECT_TRUE(child.has_value());
  const sys::UniqueFd out = child->take_stdout();
  ::fcntl(out.get(), F_SETFL, 0);
  char up[3];
  EXPECT_EQ(::read(out.get(), up, 3), 3);
  return *std::move(child);
}

TEST(Orphans, AreFoundByAVariableTogetherWithTheirGroup) {
  const sys::TestDir dir;
  const sys::Child child = start_pair(dir);

  auto found = list_processes_with(variable());

  ASSERT_TRUE(found.has_value());
  ASSERT_THAT(*found, SizeIs(2));
  for (const Process& process : *found) {
    EXPECT_EQ(process.group, child.pid());
    EXPECT_GT(process.start_time, 0u);
  }
  EXPECT_THAT(list_processes_with(variable().substr(0, variable().size() - 1)).value(), IsEmpty());
  EXPECT_THAT(list_processes_with(variable().substr(1)).value(), IsEmpty());
}

// An environment is read in pieces; the name may lie in two of them.
TEST(Orphans, AreFoundWhereverTheVariableStandsInALargeEnvironment) {
  for (std::size_t end = (64u << 10) - 40; end < (64u << 10) + 4; ++end) {
    const std::string padding = "A=" + std::string(end - 3, 'x');  // and a NUL
    const auto child = sys::Child::spawn(
        {.path = "/bin/sleep", .env = {padding, variable() + "=id7"}, .args = {"1000"}});
    ASSERT_TRUE(child.has_value());
    // spawn() returns when the child has its new memory; its environment is shown a moment later.
    const std::string environment = cat("/proc/", child->pid(), "/environ");
    while (sys::read_file(environment).value().empty()) ::sched_yield();

    const auto found = list_processes_with(variable());

    ASSERT_THAT(found.value(), SizeIs(1)) << "after " << end << " bytes";
  }
}

// A pod author chooses the environment of a pod's processes, and could make a daemon wait for them.
TEST(Orphans, AreNotThoseOfAnotherPidNamespace) {
  const sys::TestDir dir;
  ASSERT_THAT(list_processes_with(variable()).value(), IsEmpty());  // and `self` is known
  int ready[2], done[2];
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(done, O_CLOEXEC), 0);
  const sys::UniqueFd ready_in(ready[0]), ready_out(ready[1]), done_in(done[0]);
  sys::UniqueFd done_out(done[1]);
  const pid_t runtime = ::fork();
  if (runtime == 0) {
    done_out.reset();
    if (::unshare(CLONE_NEWPID) != 0) ::_exit(1);
    char end = 0;
    {
      const sys::Child container = start_pair(dir);
      (void)!::write(ready_out.get(), "x", 1);
      (void)!::read(done_in.get(), &end, 1);
    }
    ::_exit(0);
  }
  char up = 0;
  ASSERT_EQ(::read(ready_in.get(), &up, 1), 1);

  const auto found = list_processes_with(variable());

  EXPECT_THAT(found.value(), IsEmpty());
  done_out.reset();
  int status = 0;
  ::waitpid(runtime, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Orphans, AreNotThoseWhoseOwnerLives) {
  const sys::TestDir dir;
  const sys::Child child = start_pair(dir);

  auto with_owner = list_orphans(variable(), {own_command()});
  auto without = list_orphans(variable(), {"multus-daemon"});

  EXPECT_THAT(with_owner.value(), IsEmpty());
  EXPECT_THAT(without.value(), SizeIs(2));
}

TEST(Orphans, OfAKilledOwnerAreEndedWithTheirChildren) {
  // As after kill -9 of a daemon: the process that inherits it does not have the daemon's name.
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const sys::TestDir dir;
  ASSERT_THAT(list_processes_with(variable()).value(), IsEmpty());  // and `self` is known
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    ::prctl(PR_SET_NAME, "old-daemon");
    sys::Child child = start_pair(dir);
    ::raise(SIGKILL);
  }
  ::waitpid(daemon, nullptr, 0);

  auto orphans = list_orphans(variable(), {"old-daemon"});
  ASSERT_THAT(orphans.value(), SizeIs(2));
  auto done = end_processes(*orphans, 5s);

  EXPECT_TRUE(done.has_value()) << done.error().text();
  EXPECT_THAT(list_processes_with(variable()).value(), IsEmpty());
  while (::waitpid(-1, nullptr, 0) > 0) {
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(Orphans, ThatIgnoreSigtermAreKilled) {
  const sys::TestDir dir;
  const sys::Child child = start_pair(dir, "trap '' TERM");
  auto found = list_processes_with(variable());
  ASSERT_THAT(found.value(), SizeIs(2));

  EXPECT_TRUE(end_processes(*found, 20ms).has_value());

  EXPECT_THAT(list_processes_with(variable()).value(), IsEmpty());
}

TEST(Orphans, EndingTouchesNobodyWhoGotTheNumberLater) {
  const sys::TestDir dir;
  sys::Child child = start_pair(dir);
  auto found = list_processes_with(variable());
  ASSERT_THAT(found.value(), SizeIs(2));
  for (Process& process : *found) process.start_time += 1;  // an earlier holder of the number

  EXPECT_TRUE(end_processes(*found, 0ms).has_value());

  EXPECT_FALSE(child.reap().has_value());
}

}  // namespace
}  // namespace mnet::plugin
