#include "nodeconf/primary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cni/version.h"
#include "json/json.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::nodeconf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;
using testing::UnorderedElementsAre;

json::Object object(std::string_view text) { return json::parse_object(text).value(); }

std::string failure(std::string_view text, std::string_view top_version) {
  const auto primary = parse_primary(text, top_version, "multus-shim");
  return primary ? std::string("taken") : primary.error().text();
}

// 03, 12: row 121
TEST(Candidates, AreConfAndConflistInByteOrderWithoutOurOwnAndWithoutDirectories) {
  const sys::TestDir dir;
  dir.write("10-a.conf", "{}");
  dir.write("05-b.conflist", "{}");
  dir.write("00-multus.conf", "{}");
  dir.write("00-multus-x.conflist", "{}");
  dir.write("01-d.conf/inside", "{}");
  dir.write("z.json", R"({"type": "x"})");
  dir.write(".conf", "{}");
  dir.write("a.CONF", "{}");

  const auto found = list_candidates(dir.path());

  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(*found, ElementsAre("05-b.conflist", "10-a.conf"));
}

TEST(Candidates, CountALinkToADirectoryAsOne) {
  const sys::TestDir dir;
  dir.write("real/x", "");
  std::filesystem::create_directory_symlink(dir / "real", dir / "01-link.conf");
  dir.write("02-b.conf", "{}");

  EXPECT_THAT(list_candidates(dir.path()).value(), ElementsAre("02-b.conf"));
}

TEST(Candidates, TakeJsonFilesOnlyAsALastResortAndOnlyIfTheyAreConfigurations) {
  const sys::TestDir dir;
  dir.write("00-other.json", R"({"setting": 1})");
  dir.write("10-a.json", R"({"type": "bridge"})");
  EXPECT_THAT(list_candidates(dir.path()).value(), ElementsAre("10-a.json"));
  EXPECT_THAT(list_candidates(dir.path(), {.takes_json = false}).value(), IsEmpty());

  dir.write("20-b.conf", "{}");
  EXPECT_THAT(list_candidates(dir.path()).value(), ElementsAre("20-b.conf"));
}

TEST(Candidates, OfThinModePassOverItsOwnOutputOnly) {
  const ChoiceRules rules{.own_prefix = "00-multus.conf", .takes_json = false};
  EXPECT_THAT(candidates({"00-multus.conflist", "00-multus-a.conf", "00-multus.conf"}, rules),
              ElementsAre("00-multus-a.conf"));
}

TEST(Candidates, OfAMissingDirectoryAreAnError) {
  const sys::TestDir dir;
  EXPECT_FALSE(list_candidates(dir / "gone").has_value());
}

// 03, 12: row 123
TEST(MasterName, MustNotBeOneOfOurOwn) {
  EXPECT_TRUE(check_master_name("/etc/cni/net.d", "10-a.conf").has_value());
  EXPECT_TRUE(check_master_name("/etc/cni/net.d", "").has_value());
  EXPECT_TRUE(check_master_name("/etc/00-multus", "10-a.conf").has_value());
  EXPECT_TRUE(check_master_name("/etc/00-multus", "").has_value());
  const auto refused = check_master_name("/etc/cni/net.d/", "x/../00-multus.conf");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().text(),
            "cannot specify /etc/cni/net.d/00-multus.conf to prevent recursive config load");
}

TEST(StrictVersion, HasExactlyThreeNumbers) {
  EXPECT_EQ(strict_version("0.4.0"), (cni::VersionNumber{0, 4, 0}));
  EXPECT_EQ(strict_version("1.10.0"), (cni::VersionNumber{1, 10, 0}));
  for (const char* wrong : {"", "1.0", "1.0.0.0", "v1.0.0", "1.0.0-rc1", "01.0.0", "1..0", "1.0.+0",
                            " 1.0.0", "1.0.99999999999999999999"}) {
    EXPECT_FALSE(strict_version(wrong).has_value()) << wrong;
  }
}

// 03, 12: row 125
TEST(ParsePrimary, ChecksVersionsOnlyForDaemonsOf040AndLater) {
  EXPECT_EQ(failure(R"({"type": "a"})", "0.3.1"), "taken");
  EXPECT_EQ(failure(R"({"type": "a", "cniVersion": "1.0.0"})", "0.4.0"), "taken");
  EXPECT_EQ(failure(R"({"type": "a"})", "0.4.0"),
            "failed to load the primary CNI configuration as a multus delegate with error "
            "'couldn't get cni version of delegate'");
  EXPECT_THAT(failure(R"({"type": "a", "cniVersion": 1})", "1.0.0"),
              HasSubstr("couldn't get cni version of delegate"));
  EXPECT_THAT(failure(R"({"type": "a", "cniVersion": "0.4"})", "0.4.0"),
              StartsWith("failed to load the primary CNI configuration as a multus delegate"));
  EXPECT_THAT(failure(R"({"type": "a", "cniVersion": "0.4.0"})", "0.4"),
              HasSubstr("couldn't get top level cni version"));
  EXPECT_EQ(check_top_version("0.4").error().text(),
            "failed to load the primary CNI configuration as a multus delegate with error "
            "'couldn't get top level cni version: cniVersion is \"0.4\", expected x.y.z'");
}

// Pain 27
TEST(ParsePrimary, TakesAnOlderPrimaryAndSaysSo) {
  const auto primary =
      parse_primary(R"({"type": "a", "cniVersion": "0.3.1"})", "1.1.0", "multus-shim");
  ASSERT_TRUE(primary.has_value());
  EXPECT_TRUE(primary->is_older);
  const auto newer =
      parse_primary(R"({"type": "a", "cniVersion": "0.4.0"})", "1.1.0", "multus-shim");
  ASSERT_TRUE(newer.has_value());
  EXPECT_FALSE(newer->is_older);
}

TEST(ParsePrimary, RefusesWhatIsNoConfiguration) {
  EXPECT_THAT(failure("***", "0.4.0"), HasSubstr("failed to unmarshall primary CNI config: "));
  EXPECT_THAT(failure("", "0.4.0"), HasSubstr("failed to unmarshall primary CNI config: "));
  EXPECT_THAT(failure("[]", "0.3.1"), HasSubstr("couldn't get cni config from delegate"));
  EXPECT_THAT(failure("null", "0.3.1"), HasSubstr("couldn't get cni config from delegate"));
  EXPECT_THAT(failure("[]", "0.4.0"), HasSubstr("couldn't get cni version of delegate"));
  EXPECT_THAT(failure(R"({"cniVersion": "0.4.0"})", "0.4.0"),
              HasSubstr("neither type nor plugins"));
}

// Pain 9
TEST(ParsePrimary, RefusesMultusItselfAtAnyDepth) {
  EXPECT_THAT(failure(R"({"type": "multus-shim"})", "0.3.1"), HasSubstr("(type)"));
  EXPECT_THAT(failure(R"({"plugins": [{"type": "a"}, {"type": "multus"}]})", "0.3.1"),
              HasSubstr("(plugins[1].type)"));
  EXPECT_THAT(
      failure(R"({"type": "x", "delegates": [{"plugins": [{"type": "multus-cni"}]}]})", "0.3.1"),
      HasSubstr("(delegates[0].plugins[0].type)"));
  EXPECT_THAT(failure(R"({"type": "x", "delegate": {"type": "multus"}})", "0.3.1"),
              HasSubstr("recursive"));
  EXPECT_FALSE(parse_primary(R"({"type": "my-shim"})", "0.3.1", "my-shim").has_value());
  EXPECT_EQ(failure(R"({"type": "multus2", "name": "multus"})", "0.3.1"), "taken");
}

TEST(LoadPrimary, NamesTheFileThatCannotBeRead) {
  const sys::TestDir dir;
  const auto primary = load_primary(dir / "gone.conf", "0.3.1", "multus-shim");
  ASSERT_FALSE(primary.has_value());
  EXPECT_THAT(primary.error().text(),
              HasSubstr("failed to read the cluster primary CNI config " + (dir / "gone.conf")));
  EXPECT_EQ(primary.error().code(), Errc::kNotFound);
}

// 03, 12: row 126
TEST(Capabilities, AreThoseOfThePluginsOrElseThoseAtTopLevel) {
  EXPECT_THAT(capabilities_of(object(R"({"capabilities": {"a": true, "b": false}})")).values,
              UnorderedElementsAre(Pair("a", true), Pair("b", false)));
  EXPECT_THAT(capabilities_of(object(R"({"capabilities": {"x": true}, "plugins": [
                  {"capabilities": {"a": false}}, {"capabilities": {"a": true}}, {"type": "b"},
                  {"capabilities": {"a": false, "c": true}}]})"))
                  .values,
              UnorderedElementsAre(Pair("a", true), Pair("c", true)));
  EXPECT_THAT(capabilities_of(object(R"({"capabilities": {"x": true}, "plugins": []})")).values,
              UnorderedElementsAre(Pair("x", true)));
}

TEST(Capabilities, AreFalseWhereTheyAreNull) {
  const auto declared = capabilities_of(
      object(R"({"plugins": [{"capabilities": {"a": null, "b": null}}, {"capabilities": null},
                             {"capabilities": {"a": true}}]})"));

  EXPECT_THAT(declared.values, UnorderedElementsAre(Pair("a", true), Pair("b", false)));
  EXPECT_THAT(declared.ignored, IsEmpty());
}

TEST(Capabilities, LeaveOutWhatIsOfTheWrongKindAndSayWhat) {
  const auto of_list = capabilities_of(object(
      R"({"plugins": [7, {"capabilities": ["a"]}, {"capabilities": {"b": "yes", "c": true}}]})"));
  EXPECT_THAT(of_list.values, UnorderedElementsAre(Pair("c", true)));
  EXPECT_THAT(of_list.ignored,
              ElementsAre("plugins[0] is a number", "plugins[1].capabilities is a list",
                          "plugins[2].capabilities.b is a string"));
  const auto no_list =
      capabilities_of(object(R"({"plugins": {"a": 1}, "capabilities": {"x": true}})"));
  EXPECT_THAT(no_list.values, UnorderedElementsAre(Pair("x", true)));
  EXPECT_THAT(no_list.ignored, ElementsAre("plugins is an object"));
}

TEST(NetworkName, IsATextThatIsNotEmpty) {
  EXPECT_EQ(network_name(object(R"({"name": "x"})")).value(), "x");
  EXPECT_THAT(network_name(object(R"({"name": 7})")).error().text(),
              StartsWith("could not override the network name: "));
  EXPECT_FALSE(network_name(object(R"({"name": ""})")).has_value());
  EXPECT_FALSE(network_name(object("{}")).has_value());
}

// 03, 12: row 133
TEST(ForceVersion, ChangesOnlyTheVersionAndKeepsModeOwnerAndLink) {
  const sys::TestDir dir;
  const std::string path =
      dir.write("data/real.conf",
                R"({"n": 1.50, "cniVersion": "0.3.1", "s": "<&>", "i": 9007199254740993})", 0640);
  ASSERT_EQ(::chown(path.c_str(), ::geteuid() == 0 ? 12 : ::geteuid(), ::getegid()), 0);
  struct stat before{};
  ASSERT_EQ(::stat(path.c_str(), &before), 0);
  const std::string link = dir / "10-a.conf";
  std::filesystem::create_symlink(path, link);

  const auto rewritten = force_version(link, "0.4.0");

  ASSERT_TRUE(rewritten.has_value()) << rewritten.error().text();
  EXPECT_TRUE(*rewritten);
  EXPECT_EQ(sys::read_file(path).value(),
            R"({"n":1.50,"cniVersion":"0.4.0","s":"<&>","i":9007199254740993})");
  struct stat after{};
  ASSERT_EQ(::stat(path.c_str(), &after), 0);
  EXPECT_EQ(after.st_mode, before.st_mode);
  EXPECT_EQ(after.st_uid, before.st_uid);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

// 03, 12: row 133
TEST(ForceVersion, LeavesAFileOfThatVersionUntouched) {
  const sys::TestDir dir;
  const std::string path = dir.write("10-a.conf", R"({ "cniVersion" : "0.4.0" })");
  EXPECT_FALSE(force_version(path, "0.4.0").value());
  EXPECT_EQ(sys::read_file(path).value(), R"({ "cniVersion" : "0.4.0" })");
}

TEST(ForceVersion, RefusesWhatIsNotJson) {
  const sys::TestDir dir;
  const std::string path = dir.write("10-a.conf", "***");
  const auto forced = force_version(path, "0.4.0");
  ASSERT_FALSE(forced.has_value());
  EXPECT_EQ(forced.error().code(), Errc::kInvalid);
  EXPECT_THAT(forced.error().text(), StartsWith("failed to unmarshall cni config " + path + ": "));
}

}  // namespace
}  // namespace mnet::nodeconf
