#include "selfcheck/folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "selfcheck/cni_configurations.h"
#include "selfcheck/finding.h"
#include "selfcheck/leftovers.h"
#include "sys/test_dir.h"

namespace mnet::selfcheck {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr const char* kMultus = R"({"cniVersion":"1.0.0","name":"m","type":"multus-shim"})";
constexpr const char* kBridge = R"({"cniVersion":"1.0.0","name":"b","type":"bridge"})";

// A directory that root owns; run by another user, each test finds one finding more.
class FolderCheck : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root: folders must belong to it";
  }
  std::string make(const std::string& name, mode_t mode = 0755) const {
    const std::string path = dir_ / name;
    std::filesystem::create_directories(path);
    ::chmod(path.c_str(), mode);
    return path;
  }
  sys::TestDir dir_;
};

TEST_F(FolderCheck, OneThatIsThereAndRootsOwnIsFine) {
  EXPECT_THAT(check_folder({.key = "cniDir", .path = make("a"), .is_written = true}), IsEmpty());
}

TEST_F(FolderCheck, AMissingOneIsAnErrorUnlessTheDaemonMakesIt) {
  EXPECT_THAT(check_folder({.key = "binDir", .path = dir_ / "none"}), SizeIs(1));
  EXPECT_THAT(
      check_folder(
          {.key = "cniDir", .path = dir_ / "none/below", .is_written = true, .is_made = true}),
      IsEmpty());
}

TEST_F(FolderCheck, AFileInItsPlaceIsAnError) {
  const Findings found =
      check_folder({.key = "cniDir", .path = dir_.write("f", ""), .is_made = true});

  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].what, HasSubstr("is not a directory"));
}

TEST_F(FolderCheck, OneThatEveryUserCanWriteIsAnErrorAndAStickyOneIsNot) {
  const Findings found = check_folder({.key = "binDir", .path = make("a", 0777)});

  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].what, HasSubstr("can be written by every user"));
  EXPECT_THAT(check_folder({.key = "socketDir", .path = make("b", 01777)}), IsEmpty());
}

TEST_F(FolderCheck, OneOfAnotherUserIsAnError) {
  const std::string path = make("a");
  ASSERT_EQ(::chown(path.c_str(), 1000, 1000), 0);

  EXPECT_THAT(check_folder({.key = "binDir", .path = path}).at(0).what,
              HasSubstr("belongs to user 1000"));
}

TEST_F(FolderCheck, OneThatMustBeTheHostsIsComparedWithTheHosts) {
  const std::string path = make("a");
  make("root" + path);

  const Findings found = check_folder({.key = "cniDir", .path = path, .host_root = dir_ / "root"});

  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].what, HasSubstr("is not the host's directory"));
  EXPECT_THAT(check_folder({.key = "cniDir", .path = path, .host_root = "/"}), IsEmpty());
}

TEST(Room, IsEnoughScarceOrGone) {
  EXPECT_THAT(judge_room("/x", {.bytes = 100u << 20, .files = 100'000}), IsEmpty());
  EXPECT_THAT(judge_room("/x", {.bytes = 100u << 20, .files = 0, .counts_files = false}),
              IsEmpty());
  EXPECT_EQ(judge_room("/x", {.bytes = 1u << 20, .files = 100'000}).at(0).severity,
            Severity::kWarning);
  EXPECT_EQ(judge_room("/x", {.bytes = 100u << 20, .files = 10}).at(0).severity,
            Severity::kWarning);
  EXPECT_EQ(judge_room("/x", {.bytes = 0, .files = 100'000}).at(0).severity, Severity::kError);
}

TEST(Descriptors, FewAreAWarning) {
  EXPECT_THAT(judge_descriptors(1024), IsEmpty());
  EXPECT_THAT(judge_descriptors(256).at(0).what, HasSubstr("256 descriptors"));
}

// As Kubernetes 1.28 and newer has it, with control groups of version 2.
TEST(ControlGroup, WhoseProcessesAreKilledTogetherIsAWarning) {
  EXPECT_THAT(judge_control_group(false), IsEmpty());
  EXPECT_THAT(judge_control_group(true).at(0).what, HasSubstr("memory.oom.group"));
  EXPECT_EQ(judge_control_group(true).at(0).severity, Severity::kWarning);
}

class ConfigurationCheck : public ::testing::Test {
 protected:
  Findings check() const {
    return check_cni_configurations({.cni_config_dir = dir_.path(),
                                     .own_file = dir_ / "00-multus.conf",
                                     .autoconfig_dir = dir_.path(),
                                     .own_type = "multus-shim"});
  }
  sys::TestDir dir_;
};

TEST_F(ConfigurationCheck, OursBeforeThePrimaryIsFine) {
  dir_.write("00-multus.conf", kMultus);
  dir_.write("10-bridge.conf", kBridge);

  EXPECT_THAT(check(), IsEmpty());
}

TEST_F(ConfigurationCheck, WhatComesBeforeOursIsAnError) {
  dir_.write("00-a.conf", kBridge);
  dir_.write("00-a.conf.disabled", kBridge);

  const Findings found = check();

  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, Severity::kError);
  EXPECT_THAT(found[0].why, HasSubstr("pods get no further networks"));
}

TEST_F(ConfigurationCheck, AnotherMultusIsAnErrorBeforeOursAndAWarningBehind) {
  dir_.write("00-a.conf", kMultus);
  dir_.write("70-multus.conf", kMultus);

  const Findings found = check();

  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].severity, Severity::kError);
  EXPECT_THAT(found[0].what, HasSubstr("00-a.conf is another Multus configuration"));
  EXPECT_EQ(found[1].severity, Severity::kWarning);
  EXPECT_THAT(found[1].what, HasSubstr("70-multus.conf"));
}

TEST(Leftovers, OldPendingDelsAndDamagedOnesAreWarnings) {
  const sys::TestDir dir;
  const auto now = std::chrono::system_clock::now();
  dir.write("pending-del/c1-eth0.json", "{}");
  EXPECT_THAT(check_leftovers(dir.path(), now), IsEmpty());
  dir.write("pending-del/bad/c2-eth0.json", "{");

  const Findings found = check_leftovers(dir.path(), now + 11min);

  ASSERT_THAT(found, SizeIs(2));
  EXPECT_THAT(found[0].what, HasSubstr("1 pending DELs"));
  EXPECT_THAT(found[1].what, HasSubstr("1 damaged DELs"));
}

TEST(Addresses, ThatHaveNoContainerAreToldOnceNobodyWritesThemAnyMore) {
  const sys::TestDir dir;
  const auto now = std::chrono::system_clock::now();
  dir.write("networks/lab/10.20.5.61", "");
  dir.write("networks/lab/lock", "");
  EXPECT_THAT(check_addresses(dir / "networks", dir / "cni", now), IsEmpty());

  const Findings found = check_addresses(dir / "networks", dir / "cni", now + 2min);

  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].what,
              HasSubstr("1 addresses in " + (dir / "networks/lab") +
                        " belong to no container, such as 10.20.5.61: host-local was killed"));
}

}  // namespace
}  // namespace mnet::selfcheck
