#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/test_log.h"
#include "cni/conf.h"
#include "confdir/confdir.h"
#include "sys/test_dir.h"

namespace mnet::confdir {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class MultusLoader : public testing::Test {
 protected:
  // The types that a configuration consists of, or the error.
  static std::string types_of(const Result<Loaded>& loaded) {
    if (!loaded) return loaded.error().text();
    if (const auto* conf = std::get_if<cni::PluginConf>(&*loaded)) return "conf " + conf->type;
    std::string text = "list";
    for (const cni::PluginConf& each : std::get<cni::ConfList>(*loaded).plugins) {
      text += " " + each.type;
    }
    return text;
  }
  std::string by_name(std::string_view name) const {
    return types_of(load_by_name(dir_.path(), name, log_));
  }
  std::string by_path(const std::string& path) const { return types_of(load_path(path, log_)); }

  sys::TestDir dir_;
  std::shared_ptr<TestLog> lines_ = std::make_shared<TestLog>();
  Log log_{{lines_}, LogLevel::kDebug};
};

// 02, row 61.
TEST_F(MultusLoader, ChainsTheSubDirectoryIntoTheListsBytes) {
  const std::string path = dir_.write(
      "10.conflist", R"({"name":"kindnet","x":12345678901234567890,"plugins":[{"type":"p"}]})");
  dir_.write("kindnet/60-b.conf", R"({"type":"b"})");
  dir_.write("kindnet/50-a.conf", R"({"type":"a","own":1})");
  dir_.write("kindnet/70-c.json", R"({"type":"c"})");

  const auto chain = load_chain(path);

  ASSERT_TRUE(chain.has_value()) << chain.error().text();
  EXPECT_EQ(
      chain->bytes,
      R"({"name":"kindnet","x":12345678901234567890,"plugins":[{"type":"p"},{"type":"a","own":1},{"type":"b"}]})");
  EXPECT_EQ(by_path(path), "list p a b");
}

TEST_F(MultusLoader, LeavesAListWithoutSubDirectoryByteForByte) {
  constexpr std::string_view kText = " {\"name\":\"n\",\n\"plugins\":[{\"type\":\"p\"}]}\n";

  EXPECT_EQ(load_chain(dir_.write("10.conflist", kText))->bytes, kText);
}

// 02, row 156.
TEST_F(MultusLoader, RefusesAListWithABadNameUnlessOnlyInlinedPluginsCount) {
  const std::string up = dir_.write("1.conflist", R"({"name":"../evil","plugins":[{"type":"p"}]})");
  const std::string inlined =
      dir_.write("2.conflist",
                 R"({"name":"../evil","loadOnlyInlinedPlugins":"TRUE","plugins":[{"type":"p"}]})");

  EXPECT_EQ(load_chain(up).error().text(), "invalid network config name: ../evil");
  EXPECT_EQ(by_path(up),
            "error loading CNI conflist file " + up + ": invalid network config name: ../evil");
  EXPECT_EQ(by_path(inlined), "list p");
}

TEST_F(MultusLoader, RefusesAListWithoutPluginsAndOneWithABadChainFile) {
  const std::string none = dir_.write("1.conflist", R"({"name":"none"})");
  const std::string empty = dir_.write("2.conflist", R"({"name":"empty","plugins":[]})");
  const std::string bad = dir_.write("3.conflist", R"({"name":"bad","plugins":[{"type":"p"}]})");
  const std::string blocked =
      dir_.write("4.conflist", R"({"name":"blocked","plugins":[{"type":"p"}]})");
  dir_.write("bad/a.conf", "{}");
  dir_.write("blocked", "");

  EXPECT_EQ(load_chain(none).error().text(), "no plugin configs found");
  EXPECT_THAT(load_chain(empty).error().text(), EndsWith("no plugins in list"));
  EXPECT_EQ(load_chain(bad).error().text(),
            (dir_ / "bad/a.conf") + ": error parsing configuration: missing 'type'");
  EXPECT_THAT(load_chain(blocked).error().text(),
              StartsWith("failed to read plugin config files in " + (dir_ / "blocked") + ": "));
}

TEST_F(MultusLoader, TakesPluginsFromTheSubDirectoryAlone) {
  const std::string path = dir_.write("1.conflist", R"({"name":"n"})");
  dir_.write("n/a.conf", R"({"type":"a"})");

  EXPECT_EQ(load_chain(path)->bytes, R"({"name":"n","plugins":[{"type":"a"}]})");
}

// 02, rows 50, 51, 64.
TEST_F(MultusLoader, FindsByNameInByteOrderOfAllFilesPastBrokenOnes) {
  const std::string broken = dir_.write("00-bad.conf", "{");
  dir_.write("10.json", R"({"name":"n","type":"json"})");
  dir_.write("20.conflist", R"({"name":"n","plugins":[{"type":"list"}]})");
  dir_.write("30.conflist", R"({"name":"m","plugins":[{"type":"list"}]})");
  dir_.write("m/a.conf", R"({"type":"a"})");
  std::filesystem::create_directories(dir_ / "05.conf");

  EXPECT_EQ(by_name("n"), "conf json");
  EXPECT_THAT(lines_->lines(),
              ElementsAre(HasSubstr("[error] Error loading CNI config file " + broken + ": ")));
  EXPECT_EQ(by_name("m"), "list list a");
}

TEST_F(MultusLoader, DoesNotReadBehindTheMatch) {
  dir_.write("10.conf", R"({"name":"n","type":"t"})");
  dir_.write("20-bad.conf", "{");

  EXPECT_EQ(by_name("n"), "conf t");
  EXPECT_THAT(lines_->lines(), IsEmpty());
}

// 02, row 155.
TEST_F(MultusLoader, NamesEveryBrokenFileWhenNothingMatches) {
  const std::string conf = dir_.write("1.conf", R"({"name":"n","plugins":[{"type":"t"}]})");
  const std::string list = dir_.write("2.conflist", R"({"name":"n"})");

  EXPECT_EQ(by_name("n"), "no network available in the name n in cni dir " + dir_.path() +
                              ": Error loading CNI config file " + conf +
                              ": error parsing configuration: missing 'type'; Error loading CNI "
                              "conflist file " +
                              list + ": no plugin configs found");
  EXPECT_EQ(load_by_name(dir_.path(), "n", log_).error().code(), Errc::kNotFound);
}

// 02, row 52.
TEST_F(MultusLoader, SaysSoWhereThereAreNoNetworks) {
  dir_.write("a.txt", "");

  EXPECT_EQ(by_name("n"), "No networks found in " + dir_.path());
  EXPECT_EQ(types_of(load_by_name(dir_ / "none", "n", log_)),
            "No networks found in " + (dir_ / "none"));
  EXPECT_THAT(types_of(load_by_name(dir_ / "a.txt", "n", log_)),
              StartsWith("No networks found in " + (dir_ / "a.txt") + ": "));
}

// The code that runs it refuses them (02, 3.3): taking the next file of that name would surprise.
TEST_F(MultusLoader, TakesAnyTypeByName) {
  dir_.write("1.conf", R"({"name":"a","type":"multus-shim"})");
  dir_.write("2.conf", R"({"name":"a","type":"t"})");

  EXPECT_EQ(by_name("a"), "conf multus-shim");
}

// 02, row 59.
TEST_F(MultusLoader, TakesTheFirstUsableFileOfADirectory) {
  const std::string own = dir_.write("00-multus.conf", R"({"name":"multus","type":"multus-shim"})");
  dir_.write("05-bad.conf", "{");
  dir_.write("10-x.conflist", R"({"name":"x","plugins":[{"type":"t"}]})");
  dir_.write("20-y.json", R"({"name":"y","type":"y"})");
  dir_.write("x/a.conf", R"({"type":"a"})");

  EXPECT_EQ(by_path(dir_.path()), "list t a");
  EXPECT_THAT(lines_->lines(), ElementsAre(HasSubstr(own), HasSubstr("05-bad.conf")));
}

// 02, row 59.
TEST_F(MultusLoader, SkipsFilesOfADirectoryThatNameMultusAnywhere) {
  dir_.write("00.conf", R"({"name":"a","type":"multus-cni"})");
  dir_.write("01.conf", R"({"name":"b","type":"our-shim"})");
  dir_.write("02.conf", R"({"name":"c","type":"x","delegates":[{"type":"multus-shim"}]})");
  dir_.write("03.conflist", R"({"name":"d","plugins":[{"type":"x","ipam":{"Type":"multus"}}]})");
  dir_.write("04.conf", R"({"name":"e","type":"x","ipam":{"type":"../evil"}})");
  dir_.write("05.conf", R"({"name":"multus","type":"t","ipam":{"type":"multus2"}})");

  EXPECT_EQ(types_of(load_path(dir_.path(), log_, "our-shim")), "conf t");
  EXPECT_THAT(lines_->lines(),
              ElementsAre(HasSubstr(R"(type "multus-cni" is multus itself)"),
                          HasSubstr(R"(type "our-shim" is multus itself)"),
                          HasSubstr(R"(delegates[0].type "multus-shim" is multus)"),
                          HasSubstr(R"(ipam.Type "multus" is multus itself)"),
                          HasSubstr("ipam.type: invalid plugin name: ../evil")));
}

TEST_F(MultusLoader, TakesAJsonFileWhereADirectoryHasNoOther) {
  dir_.write("20-y.json", R"({"name":"y","type":"y"})");

  EXPECT_EQ(by_path(dir_.path() + "/"), "conf y");
}

TEST_F(MultusLoader, FindsNoNetworkInADirectoryWithoutUsableFile) {
  dir_.write("readme.txt", "x");
  EXPECT_EQ(by_path(dir_.path()), "cannot find network in " + dir_.path());

  dir_.write("00-multus.conf", R"({"name":"multus","type":"multus"})");

  EXPECT_THAT(by_path(dir_.path()),
              AllOf(StartsWith("cannot find network in "), HasSubstr("00-multus.conf")));
  EXPECT_EQ(load_path(dir_.path(), log_).error().code(), Errc::kNotFound);
}

TEST_F(MultusLoader, TakesAnyOtherFileForAConf) {
  EXPECT_EQ(by_path(dir_.write("net", R"({"name":"n","type":"t"})")), "conf t");
}

// 02, rows 60 and 156.
TEST_F(MultusLoader, SaysWhichFileItCouldNotTake) {
  const std::string untyped = dir_.write("1.conf", R"({"name":"n","plugins":[{"type":"t"}]})");
  const std::string shim = dir_.write("2.conf", R"({"name":"n","type":"multus-shim"})");
  const std::string chained = dir_.write("3.conflist", R"({"name":"n","plugins":[{"type":"t"}]})");
  dir_.write("n/a.conf", R"({"type":"multus"})");
  const std::string missing = dir_ / "nope.conf";

  EXPECT_EQ(by_path(untyped), "error loading CNI config file " + untyped +
                                  ": error parsing configuration: missing 'type'");
  EXPECT_EQ(by_path(shim),
            "error loading CNI config file " + shim + ": type \"multus-shim\" is multus itself");
  EXPECT_EQ(by_path(chained),
            "error loading CNI conflist file " + chained + ": type \"multus\" is multus itself");
  EXPECT_EQ(by_path(missing), "error loading CNI config file " + missing + ": error reading " +
                                  missing + ": open " + missing + ": no such file or directory");
}

TEST_F(MultusLoader, TakesAListOnlyFromARegularFileOrALinkToOne) {
  const std::string list = dir_.write("a", R"({"name":"n","plugins":[{"type":"t"}]})");
  std::filesystem::create_symlink(list, dir_ / "link.conflist");
  ASSERT_EQ(::mkfifo((dir_ / "fifo.conflist").c_str(), 0600), 0);

  EXPECT_EQ(by_path(dir_ / "link.conflist"), "list t");
  EXPECT_THAT(by_path(dir_ / "fifo.conflist"), EndsWith("not a regular file"));
  EXPECT_THAT(by_path(dir_ / "none.conflist"), HasSubstr("no such file or directory"));
}

// 02, 3.9.
TEST_F(MultusLoader, YieldsAnAuxiliaryChainsPlugins) {
  dir_.write("aux/b.conf", R"({"type":"b"})");
  dir_.write("aux/a.conf", R"({"type":"a"})");

  const auto plugins = chained_plugins(dir_.path(), "aux");

  ASSERT_TRUE(plugins.has_value());
  EXPECT_THAT(*plugins, ElementsAre(testing::Field(&cni::PluginConf::type, "a"),
                                    testing::Field(&cni::PluginConf::type, "b")));
  EXPECT_THAT(chained_plugins(dir_.path(), "none").value(), IsEmpty());
  EXPECT_EQ(chained_plugins(dir_.path(), "a\"b").error().text(),
            "invalid network config name: a\"b");
  EXPECT_EQ(chained_plugins(dir_.path(), "").error().text(), "invalid network config name: ");
}

}  // namespace
}  // namespace mnet::confdir
