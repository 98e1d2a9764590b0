#include "settings/fragments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/result.h"
#include "base/text.h"
#include "json/json.h"
#include "settings/config.h"
#include "settings/config_check.h"
#include "sys/test_dir.h"

namespace mnet::settings {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LoadConfigWithFragments : public testing::Test {
 protected:
  std::string fragment(const std::string& name, const std::string& text) {
    return dir_.write("daemon-config.d/" + name, text);
  }
  Result<Config> load() { return load_config(main_, {}); }
  std::string error() {
    const auto config = load();
    return config ? "no error" : config.error().text();
  }

  sys::TestDir dir_;
  std::string main_ = dir_.write(
      "daemon-config.json", R"({"binDir":"/a","logOptions":{"maxAge":1},"chrootDir":"/none"})");
};

TEST_F(LoadConfigWithFragments, MergesThemInTheOrderOfTheirNames) {
  const std::string second = fragment("20-b.json", R"({"BINDIR":"/c","logOptions":{"maxSize":2}})");
  const std::string first = fragment("10-a.json", R"({"binDir":"/b","shimTimeout":50})");

  const auto config = load();

  ASSERT_TRUE(config.has_value()) << config.error().text();
  EXPECT_EQ(config->bin_dir, "/c");
  EXPECT_EQ(config->shim_timeout, 50);
  EXPECT_EQ(config->log_options->max_age, 1);
  EXPECT_EQ(config->log_options->max_size, 2);
  EXPECT_THAT(config->fragments, ElementsAre(first, second));
  EXPECT_EQ(config->document.find("binDir"), nullptr);
  EXPECT_EQ(json::dump(*config->document.find("logOptions")), R"({"maxAge":1,"maxSize":2})");
}

TEST_F(LoadConfigWithFragments, NullTakesAKeyAway) {
  fragment("10-a.json", R"({"CHROOTDIR":null,"logOptions":{"maxAge":null}})");

  const auto config = load();

  ASSERT_TRUE(config.has_value()) << config.error().text();
  EXPECT_EQ(json::dump(config->document), R"({"binDir":"/a","logOptions":{}})");
}

TEST_F(LoadConfigWithFragments, FlagsStandAboveThem) {
  fragment("10-a.json", R"({"logLevel":"debug"})");

  EXPECT_EQ(load_config(main_, {{"logLevel", "error"}})->log_level, "error");
}

TEST_F(LoadConfigWithFragments, ErrorsNameTheFragmentAndTheKey) {
  const std::string path = fragment("10-a.json", R"({"perNodeCertificate":{"enabled":"yes"}})");

  EXPECT_THAT(error(), HasSubstr(path));
  EXPECT_THAT(error(), HasSubstr("perNodeCertificate.enabled"));
}

TEST_F(LoadConfigWithFragments, WhatIsFoundLaterNamesTheFileThatHasTheSay) {
  EXPECT_THAT(check_surroundings(*load()).error().text(), HasSubstr(main_ + ": chrootDir"));

  const std::string path = fragment("10-a.json", R"({"chrootdir":"/absent","logoptions":{}})");

  const auto config = load();
  EXPECT_THAT(check_surroundings(*config).error().text(), HasSubstr(path + ": chrootDir"));
  EXPECT_EQ(with_file(*config, "logOptions has no effect"), path + ": logOptions has no effect");
  EXPECT_EQ(with_file(*config, "binDir: no"), main_ + ": binDir: no");
}

TEST_F(LoadConfigWithFragments, WhatCannotBeReadIsAnErrorAndNotAbsent) {
  const std::string path = dir_ / "daemon-config.d/10-a.json";
  const auto expect_refusal = [&] { EXPECT_THAT(error(), HasSubstr(path)); };

  fragment("10-a.json", "{");
  expect_refusal();
  fragment("10-a.json", "[]");
  expect_refusal();
  fragment("10-a.json", cat(R"({"x":")", std::string(1u << 20, 'x'), "\"}"));
  expect_refusal();
  std::filesystem::remove(path);
  std::filesystem::create_symlink("nowhere", path);
  expect_refusal();
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  expect_refusal();
}

TEST_F(LoadConfigWithFragments, AFolderThatIsNoneIsAnError) {
  dir_.write("daemon-config.d", "");

  EXPECT_THAT(error(), HasSubstr(dir_ / "daemon-config.d"));
}

TEST_F(LoadConfigWithFragments, OtherNamesAreLeftOutAndOnlyHiddenOnesSilently) {
  const std::string other = fragment("10-a.conf", "{");
  fragment(".20-b.json", "{");

  const auto config = load();

  ASSERT_TRUE(config.has_value()) << config.error().text();
  EXPECT_THAT(config->warnings, ElementsAre(testing::StartsWith(other + " has no effect")));
}

TEST_F(LoadConfigWithFragments, TooManyAreAnError) {
  for (int i = 0; i < 101; ++i) fragment(cat(i, ".json"), "{}");

  EXPECT_THAT(error(), HasSubstr("more than 100 fragments"));
}

TEST(FragmentsDirectory, IsNamedAfterTheFile) {
  EXPECT_EQ(fragments_directory("/etc/daemon-config.json"), "/etc/daemon-config.d");
  EXPECT_EQ(fragments_directory("/etc/other"), "/etc/other.d");
}

}  // namespace
}  // namespace mnet::settings
