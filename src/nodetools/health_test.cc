#include "nodetools/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "base/text.h"
#include "nodetools/output.h"

namespace mnet::nodetools {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(Health, IsSeenByTheCommandOfAnotherProcess) {
  const std::string program = cat("test-", ::getpid());
  RecordedOutput output;
  EXPECT_EQ(check_health(program, output), 1);
  EXPECT_THAT(output.complaints, HasSubstr("runs here"));

  Health health(program);
  EXPECT_EQ(check_health(program, output), 1);
  EXPECT_THAT(output.complaints, HasSubstr("starting"));
  health.ready();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(check_health(program, output));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);

  health.not_ready("plugin x failed:\nno such file");
  EXPECT_EQ(check_health(program, output), 1);
  EXPECT_THAT(output.complaints, HasSubstr("plugin x failed: no such file"));
}

TEST(Health, OfOneOfSeveralIsNotEnough) {
  const std::string program = cat("test-", ::getpid());
  RecordedOutput output;
  Health one(program), other(program);
  one.ready();

  EXPECT_EQ(check_health(program, output), 1);
  other.ready();
  EXPECT_EQ(check_health(program, output), 0);
}

TEST(Health, HasAnAge) {
  const std::chrono::steady_clock::time_point now(100s);

  EXPECT_EQ(parse_health("30 ready ready\n\n", now)->age, 70s);
  EXPECT_TRUE(parse_health("30 ready ready", now)->is_ready);
  EXPECT_EQ(parse_health("30 waiting for x\n", now)->why, "for x");
  for (const char* bad : {"", "x", "30", "30 fine", "99999999999999999999 ready"}) {
    EXPECT_FALSE(parse_health(bad, now).has_value()) << bad;
  }
}

}  // namespace
}  // namespace mnet::nodetools
