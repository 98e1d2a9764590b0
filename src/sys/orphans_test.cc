#include "sys/orphans.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/prctl.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "sys/fd.h"
#include "sys/file.h"
#include "sys/spawn.h"
#include "sys/test_dir.h"

namespace mnet::sys {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

// Unique to this process and test: what another one killed may take a moment to go.
std::string variable() {
  static const pid_t self = ::getpid();  // of the parent, also in a forked child
  return cat("MNET_", testing::UnitTest::GetInstance()->current_test_info()->name(), "_", self);
}

std::string own_command() { return std::string(trim(read_file("/proc/self/comm").value())); }

// A plugin that has a child of its own, as those with IPAM have; ready when it says so.
Child start_pair(const TestDir& dir, std::string_view trap = "") {
  const std::string path = dir.write(
      "pair", cat("#!/bin/sh\n", trap, "\nsleep 1000 & echo up; wait; wait; wait\n"), 0755);
  auto child = Child::spawn(
      {.path = path, .env = {variable() + "=id7", "CNI_CONTAINERID=c1", "PATH=/bin:/usr/bin"}});
  EXPECT_TRUE(child.has_value());
  const UniqueFd out = child->take_stdout();
  ::fcntl(out.get(), F_SETFL, 0);
  char up[3];
  EXPECT_EQ(::read(out.get(), up, 3), 3);
  return *std::move(child);
}

TEST(Orphans, AreFoundByAVariableTogetherWithTheirGroup) {
  const TestDir dir;
  const Child child = start_pair(dir);

  auto found = list_processes_with(variable());

  ASSERT_TRUE(found.has_value());
  ASSERT_THAT(*found, SizeIs(2));
  for (const Process& process : *found) {
    EXPECT_EQ(process.group, child.pid());
    EXPECT_GT(process.start_time, 0u);
  }
  const Process& leader = found->front().pid == child.pid() ? found->front() : found->back();
  EXPECT_EQ(leader.variable(variable()), "id7");
  EXPECT_EQ(leader.variable("CNI_CONTAINERID"), "c1");
  EXPECT_EQ(leader.variable("CNI_CONTAINER"), std::nullopt);
}

TEST(Orphans, AreNotThoseWhoseOwnerLives) {
  const TestDir dir;
  const Child child = start_pair(dir);

  auto with_owner = list_orphans(variable(), {own_command()});
  auto without = list_orphans(variable(), {"multus-daemon"});

  EXPECT_THAT(with_owner.value(), IsEmpty());
  EXPECT_THAT(without.value(), SizeIs(2));
}

TEST(Orphans, OfAKilledOwnerAreEndedWithTheirChildren) {
  // As after kill -9 of a daemon: the process that inherits it does not have the daemon's name.
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const TestDir dir;
  ASSERT_THAT(list_processes_with(variable()).value(), IsEmpty());  // and `self` is known
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    ::prctl(PR_SET_NAME, "old-daemon");
    Child child = start_pair(dir);
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
  const TestDir dir;
  const Child child = start_pair(dir, "trap '' TERM");
  auto found = list_processes_with(variable());
  ASSERT_THAT(found.value(), SizeIs(2));

  EXPECT_TRUE(end_processes(*found, 20ms).has_value());

  EXPECT_THAT(list_processes_with(variable()).value(), IsEmpty());
}

TEST(Orphans, EndingTouchesNobodyWhoGotTheNumberLater) {
  const TestDir dir;
  Child child = start_pair(dir);
  auto found = list_processes_with(variable());
  ASSERT_THAT(found.value(), SizeIs(2));
  for (Process& process : *found) process.start_time += 1;  // an earlier holder of the number

  EXPECT_TRUE(end_processes(*found, 0ms).has_value());

  EXPECT_FALSE(child.reap().has_value());
}

}  // namespace
}  // namespace mnet::sys
