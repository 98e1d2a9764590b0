#include "nodeconf/restore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::nodeconf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kPrimary = R"({"name":"p","type":"bridge"})";
constexpr const char* kOwn = R"({"name":"n","type":"multus-shim"})";

class Restore : public testing::Test {
 protected:
  Restore() {
    dir_.write("net.d/00-multus.conf", kOwn);
    options_.cni_config_dir = dir_ / "net.d";
    options_.own_file = dir_ / "net.d/00-multus.conf";
    options_.autoconfig_dir = dir_ / "primary.d";
    options_.own_type = "multus-shim";
  }

  sys::TestDir dir_;
  RestoreOptions options_;
};

TEST_F(Restore, LeavesAPrimaryThatTheRuntimeFinds) {
  const std::string there = dir_.write("net.d/20-p.conf", kPrimary);
  dir_.write("net.d/10-nested.conflist", R"({"name":"x","plugins":[{"type":"multus"}]})");
  dir_.write("primary.d/01-p.conf", kPrimary);

  EXPECT_EQ(restore_primary(options_).value(), there);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "net.d/01-p.conf"));
}

TEST_F(Restore, PrefersThePrimaryThatOurFileNames) {
  dir_.write("primary.d/01-first.conf", kPrimary);
  const std::string named = dir_.write("elsewhere/50-p.conf", kPrimary, 0640);
  dir_.write("net.d/00-multus.conf",
             cat(R"({"name":"n","type":"multus-shim","clusterNetwork":")", named, R"("})"));

  ASSERT_TRUE(restore_primary(options_).has_value());

  EXPECT_EQ(sys::read_file(dir_ / "net.d/50-p.conf").value(), kPrimary);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "net.d/01-first.conf"));
}

TEST_F(Restore, TakesTheFirstThatIsOneFromThePrimarysDirectory) {
  dir_.write("primary.d/01-broken.conf", "***");
  dir_.write("primary.d/02-p.conf", kPrimary);

  ASSERT_TRUE(restore_primary(options_).has_value());

  EXPECT_EQ(sys::read_file(dir_ / "net.d/02-p.conf").value(), kPrimary);
}

TEST_F(Restore, GivesARenamedPrimaryItsNameBack) {
  dir_.write("net.d/10-p.conflist.old", kPrimary);
  dir_.write("net.d/05-other.old", "***");

  ASSERT_TRUE(restore_primary(options_).has_value());

  EXPECT_TRUE(std::filesystem::exists(dir_ / "net.d/10-p.conflist"));
  EXPECT_TRUE(std::filesystem::exists(dir_ / "net.d/05-other.old"));
}

TEST_F(Restore, SaysThatThereIsNone) {
  const auto none = restore_primary(options_);
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code(), Errc::kNotFound);
}

TEST_F(Restore, NamesOtherConfigurationsOfMultus) {
  EXPECT_THAT(other_multus_configs(options_), IsEmpty());
  dir_.write("net.d/20-p.conf", kPrimary);
  const std::string other =
      dir_.write("net.d/00-multus.conflist", R"({"name":"x","plugins":[{"type":"multus"}]})");

  EXPECT_THAT(other_multus_configs(options_), ElementsAre(other));
}

}  // namespace
}  // namespace mnet::nodeconf
