// Front::of_process(), in processes of its own: what happens with closed and broken descriptors.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

#include "skel/skel.h"

namespace mnet::skel {
namespace {

using testing::HasSubstr;

// The exit status of `body` in a child.
int in_child(const std::function<int()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void feed_stdin(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ::dup2(fd, STDIN_FILENO);
  ::close(fd);
}

TEST(ProcessFront, ReadsVariablesOrNothing) {
  ::setenv("SKEL_TEST_SET", "", 1);
  const Front front = Front::of_process();

  EXPECT_EQ(front.env("SKEL_TEST_SET"), "");
  EXPECT_EQ(front.env("SKEL_TEST_NOT_SET"), std::nullopt);
}

// P42.
TEST(ProcessFront, SaysWhyStdinCannotBeRead) {
  EXPECT_EQ(0, in_child([] {
              feed_stdin("/");
              const auto text = Front::of_process().read_stdin();
              return !text && text.error().text() == "read /dev/stdin: is a directory" ? 0 : 1;
            }));
  EXPECT_EQ(0, in_child([] {
              ::close(STDIN_FILENO);
              const auto text = Front::of_process().read_stdin();
              return !text && text.error().text() == "read /dev/stdin: bad file descriptor" ? 0 : 1;
            }));
}

TEST(ProcessFront, RefusesAnEndlessStdin) {
  EXPECT_EQ(0, in_child([] {
              feed_stdin("/dev/zero");
              const auto text = Front::of_process().read_stdin();
              return !text && text.error().text() == "more than 16777216 bytes" ? 0 : 1;
            }));
}

// A socket must never become number 2: log lines would be sent to the daemon.
TEST(ProcessFront, KeepsClosedStandardDescriptorsFromBeingReused) {
  EXPECT_EQ(0, in_child([] {
              for (int fd = 0; fd < 3; ++fd) ::close(fd);
              const Front front = Front::of_process();
              const int next = ::open("/", O_RDONLY | O_CLOEXEC);
              front.write_stderr("lost");
              return next > 2 && !front.write_stdout("x") ? 0 : 1;
            }));
}

TEST(ProcessFront, OutlivesAReaderThatLeft) {
  EXPECT_EQ(0, in_child([] {
              int ends[2];
              if (::pipe2(ends, O_CLOEXEC) != 0) return 1;
              ::close(ends[0]);
              ::dup2(ends[1], STDOUT_FILENO);
              const auto written = Front::of_process().write_stdout("x");
              return !written && written.error().text() == "write /dev/stdout: broken pipe" ? 0 : 1;
            }));
}

}  // namespace
}  // namespace mnet::skel
