#include "nodeconf/service_account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/result.h"
#include "sys/test_dir.h"

namespace mnet::nodeconf {
namespace {

using testing::HasSubstr;

constexpr const char* kPem = "-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n";

TEST(ServiceAccount, IsReadThroughTheLinksOfAMountedVolume) {
  const sys::TestDir dir;
  dir.write("..1/token", "abc\n");
  dir.write("..1/ca.crt", kPem);
  std::filesystem::create_symlink("..1", dir / "..data");
  std::filesystem::create_symlink("..data/token", dir / "token");
  std::filesystem::create_symlink("..data/ca.crt", dir / "ca.crt");

  const auto account = read_service_account(dir.path(), true);

  ASSERT_TRUE(account.has_value()) << account.error().text();
  EXPECT_EQ(account->token, "abc");
  EXPECT_EQ(account->ca, kPem);
}

TEST(ServiceAccount, ThatIsNotWholeIsAnErrorThatNamesTheFile) {
  const std::string begun = "-----BEGIN CERTIFICATE-----\nMII=\n";
  struct Case {
    const char *token, *ca, *named;
  };
  const Case cases[] = {
      {nullptr, kPem, "/token"}, {"", kPem, "/token"},          {" \n", kPem, "/token"},
      {"a b", kPem, "/token"},   {"a\tb", kPem, "/token"},      {"abc", nullptr, "/ca.crt"},
      {"abc", "", "/ca.crt"},    {"abc", "garbage", "/ca.crt"}, {"abc", begun.c_str(), "/ca.crt"},
  };
  for (const Case& one : cases) {
    const sys::TestDir dir;
    if (one.token != nullptr) dir.write("token", one.token);
    if (one.ca != nullptr) dir.write("ca.crt", one.ca);

    const auto account = read_service_account(dir.path(), true);

    ASSERT_FALSE(account.has_value());
    EXPECT_THAT(account.error().text(), HasSubstr(dir.path() + one.named));
  }
  EXPECT_FALSE(read_service_account("/none", true).has_value());
}

TEST(ServiceAccount, NeedsNoAuthorityWhereNobodyVerifies) {
  const sys::TestDir dir;
  dir.write("token", "abc");

  EXPECT_EQ(*read_service_account(dir.path(), false), (ServiceAccount{"abc", ""}));
}

}  // namespace
}  // namespace mnet::nodeconf
