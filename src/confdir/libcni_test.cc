#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "cni/conf.h"
#include "confdir/confdir.h"
#include "sys/test_dir.h"

namespace mnet::confdir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class LibcniLoader : public testing::Test {
 protected:
  // The types of the chain, or the error.
  static std::vector<std::string> types_of(const Result<cni::ConfList>& list) {
    if (!list) return {"error: " + list.error().text()};
    std::vector<std::string> types;
    for (const cni::PluginConf& plugin : list->plugins) types.push_back(plugin.type);
    return types;
  }
  std::string failure(std::string_view name) const {
    const auto list = load_network(dir_.path(), name);
    return list ? "loaded" : list.error().text();
  }

  sys::TestDir dir_;
};

TEST_F(LibcniLoader, ListsFilesByExtensionInByteOrder) {
  for (const char* name :
       {"b.conf", "a.conf", "B.conf", ".conf", "c.json", "d.conf.old", "e.CONF"}) {
    dir_.write(name, "");
  }
  std::filesystem::create_directories(dir_ / "dir.conf");
  std::filesystem::create_symlink(dir_ / "dir.conf", dir_ / "link.conf");

  EXPECT_THAT(conf_files(dir_.path() + "/", {".conf"}).value(),
              ElementsAre(dir_ / ".conf", dir_ / "B.conf", dir_ / "a.conf", dir_ / "b.conf",
                          dir_ / "link.conf"));
  EXPECT_THAT(conf_files(dir_ / "none", {".conf"}).value(), IsEmpty());
  EXPECT_FALSE(conf_files(dir_ / "a.conf", {".conf"}).has_value());
}

TEST_F(LibcniLoader, NamesTheFileThatItCannotRead) {
  const std::string path = dir_ / "none.conf";

  EXPECT_EQ(load_conf_file(path).error().text(),
            "error reading " + path + ": open " + path + ": no such file or directory");
  EXPECT_THAT(load_conflist_file(path).error().text(), StartsWith("error reading " + path + ": "));
}

// L11, the case with a file.
TEST_F(LibcniLoader, RefusesAListThatEndsUpWithoutPlugins) {
  const std::string path = dir_.write("10.conflist", R"({"name":"q"})");

  EXPECT_EQ(load_conflist_file(path).error().text(), "no plugin configs found");
}

// L12, L13.
TEST_F(LibcniLoader, AppendsTheSubDirectorysConfsUnlessOnlyInlinedOnesCount) {
  constexpr std::string_view kText = R"({"name":"q","plugins":[{"type":"p1"}]})";
  const std::string path = dir_.write("10.conflist", kText);
  const std::string inlined = dir_.write(
      "20.conflist", R"({"name":"q","loadOnlyInlinedPlugins":true,"plugins":[{"type":"p1"}]})");
  dir_.write("q/b.conf", R"({"type":"b"})");
  dir_.write("q/a.conf", R"({"type":"a"})");
  dir_.write("q/c.json", R"({"type":"c"})");
  std::filesystem::create_directories(dir_ / "q/d.conf");

  const auto list = load_conflist_file(path);

  EXPECT_THAT(types_of(list), ElementsAre("p1", "a", "b"));
  EXPECT_EQ(list->bytes, kText);
  EXPECT_THAT(types_of(load_conflist_file(inlined)), ElementsAre("p1"));
}

// L14.
TEST_F(LibcniLoader, RefusesASubDirectoryThatIsAFile) {
  const std::string path = dir_.write("10.conflist", R"({"name":"q","plugins":[{"type":"p1"}]})");
  dir_.write("q", "");

  EXPECT_THAT(load_conflist_file(path).error().text(),
              StartsWith("failed to read plugin config files in " + (dir_ / "q") + ": "));
}

// L15.
TEST_F(LibcniLoader, FailsTheWholeListForOneBadConf) {
  const std::string path = dir_.write("10.conflist", R"({"name":"q","plugins":[{"type":"p1"}]})");
  dir_.write("q/a.conf", R"({"mtu":1})");

  EXPECT_EQ(load_conflist_file(path).error().text(), "error parsing configuration: missing 'type'");
}

// L16.
TEST_F(LibcniLoader, StopsAtABrokenFileOnlyBeforeTheWantedOne) {
  dir_.write("50.conflist", R"({"name":"n","plugins":[{"type":"t"}]})");
  dir_.write("90-bad.conflist", "{");
  EXPECT_THAT(types_of(load_network(dir_.path(), "n")), ElementsAre("t"));

  dir_.write("00-bad.conflist", "{");

  EXPECT_THAT(failure("n"), StartsWith("error parsing configuration list: "));
}

// L17.
TEST_F(LibcniLoader, PrefersAListToAConfOfTheSameName) {
  dir_.write("49.conf", R"({"name":"n","type":"conf"})");
  dir_.write("50.conflist", R"({"name":"n","plugins":[{"type":"list"}]})");

  EXPECT_THAT(types_of(load_network(dir_.path(), "n")), ElementsAre("list"));
}

// L18, L25.
TEST_F(LibcniLoader, MakesAListOfOneOfAConfAndLooksIntoNoSubDirectory) {
  dir_.write("10.conf", R"({"name":"s","type":"t"})");
  dir_.write("s/a.conf", R"({"type":"a"})");

  const auto list = load_network(dir_.path(), "s");

  EXPECT_THAT(types_of(list), ElementsAre("t"));
  EXPECT_EQ(list->bytes, R"({"name":"s","cniVersion":"","plugins":[{"name":"s","type":"t"}]})");
}

// L19.
TEST_F(LibcniLoader, TellsNoConfigurationsFromNoneOfThatName) {
  EXPECT_EQ(load_network(dir_ / "none", "x").error().text(),
            "no net configurations found in " + (dir_ / "none"));
  EXPECT_EQ(failure("x"), "no net configurations found in " + dir_.path());
  EXPECT_EQ(load_network(dir_.path(), "x").error().code(), Errc::kUnavailable);

  dir_.write("10.conf", R"({"name":"y","type":"t"})");

  EXPECT_EQ(failure("x"), "no net configuration with name \"x\" in " + dir_.path());
  EXPECT_EQ(load_network(dir_.path(), "x").error().code(), Errc::kNotFound);
}

TEST_F(LibcniLoader, CountsListsAsConfigurationsTooWhenNoneMatches) {
  dir_.write("10.conflist", R"({"name":"y","plugins":[{"type":"t"}]})");

  EXPECT_EQ(failure("x"), "no net configuration with name \"x\" in " + dir_.path());
}

// L20.
TEST_F(LibcniLoader, StopsAtAListInAFileOfAConf) {
  dir_.write("02.json", R"({"name":"n","plugins":[{"type":"t"}]})");
  dir_.write("10.conf", R"({"name":"n","type":"t"})");

  EXPECT_EQ(failure("n"), "error parsing configuration: missing 'type'");
}

// L21.
TEST_F(LibcniLoader, LooksNeitherDeeperNorAtOtherEndings) {
  dir_.write("sub/10.conflist", R"({"name":"n","plugins":[{"type":"t"}]})");
  dir_.write("X.CONFLIST", R"({"name":"n","plugins":[{"type":"t"}]})");

  EXPECT_THAT(failure("n"), HasSubstr("no net configurations found"));
}

// L22.
TEST_F(LibcniLoader, LoadsNoPluginsByABadName) {
  dir_.write("stray.conf", R"({"type":"stray"})");
  dir_.write("etc/stray.conf", R"({"type":"stray"})");
  const std::string empty = dir_.write("net/1.conflist", R"({"name":"","plugins":[{"type":"t"}]})");
  const std::string up =
      dir_.write("net/2.conflist", R"({"name":"../etc","plugins":[{"type":"t"}]})");
  dir_.write("net/stray.conf", R"({"type":"stray"})");

  EXPECT_THAT(types_of(load_conflist_file(empty)), ElementsAre("t"));
  EXPECT_THAT(types_of(load_conflist_file(up)), ElementsAre("t"));
}

}  // namespace
}  // namespace mnet::confdir
