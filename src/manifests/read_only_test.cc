// A folder on a read-only mount. Needs a mount namespace of its own, hence apart from the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/run.h"
#include "base/log.h"
#include "base/test_log.h"
#include "manifests/events.h"
#include "manifests/objects.h"
#include "manifests/status.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::manifests {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class ReadOnlyFolder : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::mount("none", dir.path().c_str(), "tmpfs", MS_RDONLY, nullptr), 0) << errno;
  }
  ~ReadOnlyFolder() override { ::umount2(dir.path().c_str(), MNT_DETACH); }

  const sys::TestDir dir;
};

TEST_F(ReadOnlyFolder, MakesAStatusAnErrorValue) {
  aio::asio::io_context loop(1);
  aio::BlockingPool pool(1);
  StatusFiles files(dir.path(), pool, Log());

  auto written = aio::run(loop, files.write({.ns = "default", .name = "a"}, "[]"));

  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().os_errno(), EROFS);
}

// A volume of a ConfigMap is such a folder.
TEST_F(ReadOnlyFolder, LeavesAStatusElsewhereIfThereIsAPlace) {
  aio::asio::io_context loop(1);
  aio::BlockingPool pool(1);
  const sys::TestDir other;
  const auto lines = std::make_shared<TestLog>();
  StatusFiles files(dir.path(), pool, Log({lines}, LogLevel::kError), other / "_status");
  const PodRef pod{.ns = "default", .name = "a", .uid = "u"};

  for (const char* text : {"[]", "[1]"}) {
    auto written = aio::run(loop, files.write(pod, text));

    ASSERT_TRUE(written.has_value()) << written.error().text();
    EXPECT_EQ(*aio::run(loop, files.find(pod)), text);
  }
  EXPECT_TRUE(sys::read_file(other / "_status/default/a.json").has_value());
  EXPECT_EQ(lines->lines().size(), 1u);
  EXPECT_TRUE(aio::run(loop, files.remove(pod)).has_value());
  EXPECT_EQ(*aio::run(loop, files.find(pod)), std::nullopt);
}

TEST_F(ReadOnlyFolder, LeavesEventsInTheLogOnly) {
  const auto lines = std::make_shared<TestLog>();
  EventFile events(dir.path(), Log({lines}, LogLevel::kVerbose));

  events.append({{.ns = "default", .name = "a"}, "Normal", "AddedInterface", "Add net1 []"});

  EXPECT_THAT(lines->lines(), Contains(HasSubstr("read-only file system")));
  EXPECT_THAT(lines->lines(), Contains(HasSubstr("Add net1 []")));
  EXPECT_THAT(sys::list_directory(dir.path()).value(), IsEmpty());
}

}  // namespace
}  // namespace mnet::manifests
