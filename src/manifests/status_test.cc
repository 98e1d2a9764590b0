#include "manifests/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

#include "aio/blocking_pool.h"
#include "aio/run.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "json/json.h"
#include "manifests/objects.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::manifests {
namespace {

using sys::TestDir;
using testing::HasSubstr;

class StatusFilesTest : public testing::Test {
 protected:
  Result<void> write(PodRef pod, std::string text) {
    return aio::run(loop, files.write(std::move(pod), std::move(text)));
  }
  Result<void> remove(PodRef pod) { return aio::run(loop, files.remove(std::move(pod))); }
  bool exists(const std::string& name) const { return std::filesystem::exists(dir / name); }

  const TestDir dir;
  aio::asio::io_context loop{1};
  aio::BlockingPool pool{1};
  StatusFiles files{dir.path(), pool, Log()};
};

TEST_F(StatusFilesTest, HaveTheShapeOfTheApisPod) {
  ASSERT_TRUE(
      write({.ns = "prod", .name = "web-0", .uid = "u-1"}, "[{\n    \"name\": \"a<b\"\n}]"));

  const auto value = json::parse(sys::read_file(dir / "status/prod/web-0.json").value());
  EXPECT_EQ(
      value.value(),
      json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"prod","name":"web-0",
                "uid":"u-1","annotations":{"k8s.v1.cni.cncf.io/network-status":"[{\n    \"name\": \"a<b\"\n}]"}}})")
          .value());
}

TEST_F(StatusFilesTest, HaveNoUidIfThePodHasNone) {
  ASSERT_TRUE(write({.ns = "default", .name = "a"}, "[]"));

  EXPECT_THAT(sys::read_file(dir / "status/default/a.json").value(), Not(HasSubstr("uid")));
}

TEST_F(StatusFilesTest, ReplaceWhatWasThere) {
  ASSERT_TRUE(write({.ns = "default", .name = "a"}, "one"));
  ASSERT_TRUE(write({.ns = "default", .name = "a"}, "two"));

  EXPECT_THAT(sys::read_file(dir / "status/default/a.json").value(), HasSubstr("two"));
  EXPECT_EQ(sys::list_directory(dir / "status/default").value().size(), 1u);
}

TEST_F(StatusFilesTest, AreReadableByOthers) {
  ASSERT_TRUE(write({.ns = "default", .name = "a"}, "one"));

  using std::filesystem::status;
  EXPECT_EQ(static_cast<int>(status(dir / "status/default").permissions()), 0755);
  EXPECT_EQ(static_cast<int>(status(dir / "status/default/a.json").permissions()), 0644);
}

TEST_F(StatusFilesTest, TakeNoNameThatLeavesTheFolder) {
  for (const PodRef& pod : {PodRef{.ns = "..", .name = "a"}, PodRef{.ns = "", .name = "a"},
                            PodRef{.ns = "a/b", .name = "a"}, PodRef{.ns = "a", .name = "../b"},
                            PodRef{.ns = "a", .name = ""}, PodRef{.ns = "a", .name = "."},
                            PodRef{.ns = "a.b", .name = "a"}, PodRef{.ns = "A", .name = "a"}}) {
    const auto written = write(pod, "x");
    ASSERT_FALSE(written.has_value()) << pod.ns << "/" << pod.name;
    EXPECT_EQ(written.error().code(), Errc::kInvalid);
    EXPECT_EQ(remove(pod).error().code(), Errc::kInvalid);
  }
  EXPECT_FALSE(exists("status"));
}

TEST_F(StatusFilesTest, DoNotMakeTheFolderItself) {
  StatusFiles missing(dir / "none", pool, Log());

  auto written = aio::run(loop, missing.write({.ns = "default", .name = "a"}, "x"));

  EXPECT_EQ(written.error().code(), Errc::kNotFound);
  EXPECT_FALSE(exists("none"));
}

TEST_F(StatusFilesTest, ThatCannotBeWrittenAreAnError) {
  dir.write("status", "a file in the way");

  const auto written = write({.ns = "default", .name = "a"}, "x");

  ASSERT_FALSE(written.has_value());
  EXPECT_THAT(written.error().text(), HasSubstr(dir / "status"));
}

TEST_F(StatusFilesTest, AreRemovedWithTheirPod) {
  ASSERT_TRUE(write({.ns = "default", .name = "a", .uid = "1"}, "x"));
  ASSERT_TRUE(write({.ns = "default", .name = "b"}, "x"));

  EXPECT_TRUE(remove({.ns = "default", .name = "a", .uid = "1"}).has_value());
  EXPECT_TRUE(remove({.ns = "default", .name = "b", .uid = "7"}).has_value());
  EXPECT_TRUE(remove({.ns = "default", .name = "never-there"}).has_value());

  EXPECT_FALSE(exists("status/default/a.json"));
  EXPECT_FALSE(exists("status/default/b.json"));
}

TEST_F(StatusFilesTest, StayWhenAnotherPodOfTheNameGoes) {
  ASSERT_TRUE(write({.ns = "default", .name = "a", .uid = "new"}, "x"));

  EXPECT_TRUE(remove({.ns = "default", .name = "a", .uid = "old"}).has_value());

  EXPECT_TRUE(exists("status/default/a.json"));
}

}  // namespace
}  // namespace mnet::manifests
