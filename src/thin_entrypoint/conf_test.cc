#include "thin_entrypoint/conf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "json/json.h"
#include "sys/test_dir.h"
#include "thin_entrypoint/options.h"

namespace mnet::thin_entrypoint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Options options_of(std::vector<std::string> words) {
  Options options;
  EXPECT_TRUE(make_flags(options).parse(words).has_value());
  return options;
}

Result<Conf> conf_of(std::vector<std::string> words, std::string_view primary) {
  return make_conf(options_of(std::move(words)), "/d/10.conf", primary);
}

const std::vector<std::string> kGolden = {"--multus-log-to-stderr=false", "--multus-cni-conf-dir="};

// 03, 12: row 150
TEST(Conf, IsByteForByteTheOriginalsBelow100) {
  const auto conf =
      conf_of(kGolden, R"({"type": "cnitesttype", "name": "test1", "cniVersion": "0.3.1"})");

  ASSERT_TRUE(conf.has_value()) << conf.error().text();
  EXPECT_EQ(conf->file, "00-multus.conf");
  EXPECT_EQ(conf->text, R"({
        "cniVersion": "0.3.1",
        "name": "multus-cni-network",
        "type": "multus",
        "logToStderr": false,
        "kubeconfig": "/etc/cni/net.d/multus.d/multus.kubeconfig",
        "delegates": [
                {"cniVersion":"0.3.1","name":"test1","type":"cnitesttype"}
        ]
}
)");
}

// 03, 12: row 150
TEST(Conf, IsAListFrom100On) {
  for (const std::string version : {"1.0.0", "1.1.0"}) {
    const auto conf = conf_of(kGolden, cat(R"({"cniVersion": ")", version,
                                           R"(", "name": "test1", "type": "cnitesttype"})"));

    ASSERT_TRUE(conf.has_value()) << conf.error().text();
    EXPECT_EQ(conf->file, "00-multus.conflist");
    EXPECT_EQ(conf->text, cat(R"({
    "cniVersion": ")",
                              version, R"(",
    "name": "multus-cni-network",
    "plugins": [ {
        "type": "multus",
        "logToStderr": false,
        "kubeconfig": "/etc/cni/net.d/multus.d/multus.kubeconfig",
        "delegates": [
            {"cniVersion":")",
                              version, R"(","name":"test1","type":"cnitesttype"}
        ]
    }]
}
)"));
  }
}

// 03, 12: row 150
TEST(Conf, HasEveryOptionInTheOriginalsOrder) {
  const auto conf =
      conf_of({"--namespace-isolation", "--global-namespaces=foobar,barfoo",
               "--multus-log-to-stderr=false", "--multus-log-level=DEBUG",
               "--multus-log-file=/var/log/foobar.log", "--additional-bin-dir=/opt/add",
               "--multus-cni-conf-dir=/etc/cni/multus/net.d", "--readiness-indicator-file=/ready"},
              R"({"cniVersion":"0.4.0","type":"x","capabilities":{"b":true,"a":false}})");

  ASSERT_TRUE(conf.has_value()) << conf.error().text();
  EXPECT_THAT(conf->text, HasSubstr(R"(        "type": "multus",
        "capabilities": {"a":false,"b":true},
        "namespaceIsolation": true,
        "globalNamespaces": "foobar,barfoo",
        "logToStderr": false,
        "logLevel": "debug",
        "logFile": "/var/log/foobar.log",
        "binDir": "/opt/add",
        "cniConf": "/etc/cni/multus/net.d",
        "readinessindicatorfile": "/ready",
        "kubeconfig": )"));
}

TEST(Conf, WritesNothingForWhatIsDefault) {
  const auto conf = conf_of({}, R"({"cniVersion":"0.3.1","type":"x"})");

  ASSERT_TRUE(conf.has_value());
  EXPECT_THAT(conf->text, HasSubstr("\"cniConf\": \"/host/etc/cni/multus/net.d\""));
  EXPECT_THAT(conf->text, Not(HasSubstr("log")));
  EXPECT_THAT(conf->text, Not(HasSubstr("capabilities")));
}

TEST(Conf, TakesCapabilitiesOfThePluginsAndOnlyOfThem) {
  const auto capabilities = [](std::string_view primary) {
    const auto conf = conf_of(kGolden, primary);
    EXPECT_TRUE(conf.has_value());
    const auto object = json::parse_object(conf->text);
    const json::Value* found = object->find("capabilities");
    return found == nullptr ? "none" : json::dump(*found);
  };

  EXPECT_EQ(capabilities(R"({"cniVersion":"0.3.1","capabilities":{"x":true},"plugins":[
                {"type":"a","capabilities":{"p":true,"q":false}},
                {"type":"b","capabilities":{"p":false}}, {"type":"c"}]})"),
            R"({"p":true,"q":false})");
  EXPECT_EQ(capabilities(R"({"cniVersion":"0.3.1","capabilities":{"x":true},"plugins":[]})"),
            "none");
  EXPECT_EQ(capabilities(R"({"cniVersion":"0.3.1","type":"t","capabilities":{"x":null}})"),
            R"({"x":false})");
  EXPECT_EQ(capabilities(R"({"cniVersion":"0.3.1","type":"t","capabilities":{"x":false}})"),
            R"({"x":false})");
}

TEST(Conf, WarnsOfCapabilitiesThatAreNone) {
  const auto conf =
      conf_of(kGolden, R"({"cniVersion":"0.3.1","type":"t","capabilities":{"x":"yes","y":true}})");

  ASSERT_TRUE(conf.has_value());
  EXPECT_THAT(conf->warnings, ElementsAre(HasSubstr("capabilities.x is a string")));
  EXPECT_THAT(conf->text, HasSubstr(R"("capabilities": {"y":true},)"));
}

// 03, 12: row 153
TEST(Conf, IsValidJsonWhateverTheNamesHold) {
  const auto conf = conf_of({"--override-network-name", "--multus-log-file=/a\"b\\c\nd"},
                            R"({"cniVersion":"0.3.1","name":"a\"b<c\n","type":"t"})");

  ASSERT_TRUE(conf.has_value()) << conf.error().text();
  const auto object = json::parse_object(conf->text);
  ASSERT_TRUE(object.has_value()) << conf->text;
  EXPECT_EQ(*object->find("name"), json::Value("a\"b<c\n"));
  EXPECT_EQ(*object->find("logFile"), json::Value("/a\"b\\c\nd"));
}

TEST(Conf, KeepsNumbersOfThePrimaryAsTheyWereWritten) {
  const auto conf =
      conf_of({}, R"({"cniVersion":"0.3.1","type":"t","big":9007199254740993,"odd":1.50})");

  ASSERT_TRUE(conf.has_value());
  EXPECT_THAT(conf->text, HasSubstr(R"({"big":9007199254740993,"cniVersion":"0.3.1","odd":1.50,)"));
}

TEST(Conf, AForcedVersionGoesIntoTheCopyOfThePrimary) {
  const std::string primary = R"({"cniVersion":"0.3.1","name":"n","type":"t"})";

  const auto conf = conf_of({"--cni-version=1.0.0", "--force-cni-version"}, primary);

  ASSERT_TRUE(conf.has_value()) << conf.error().text();
  EXPECT_EQ(conf->file, "00-multus.conflist");
  EXPECT_THAT(conf->text, HasSubstr(R"({"cniVersion":"1.0.0","name":"n","type":"t"})"));
}

// 03, 12: row 151
TEST(Conf, SaysWhatIsWrong) {
  const std::string good = R"({"cniVersion":"0.3.1","name":"n","type":"t"})";
  struct Case {
    std::vector<std::string> words;
    std::string primary, text;
  };
  const Case cases[] = {
      {{}, "***", "cannot read master CNI config json"},
      {{}, "[]", "cannot read master CNI config json"},
      {{}, "", "cannot read master CNI config json"},
      {{}, R"({"type":"t"})", "cannot get cniVersion in master CNI config file"},
      {{}, R"({"cniVersion":1,"type":"t"})", "cannot get cniVersion in master CNI config file"},
      {{}, R"({"cniVersion":"a.b","type":"t"})", "cannot use cniVersion"},
      {{"--cni-version=0.4.0"},
       good,
       R"(Multus cni version is "0.4.0" while master plugin cni version is "0.3.1")"},
      {{"--multus-log-level=chatty"},
       good,
       "Log levels should be one of: debug/verbose/error/panic"},
      {{"--override-network-name"},
       R"({"cniVersion":"0.3.1","type":"t"})",
       "cannot get name in master CNI config file"},
      {{"--override-network-name"},
       R"({"cniVersion":"0.3.1","name":5,"type":"t"})",
       "cannot get name in master CNI config file"},
      {{}, R"({"cniVersion":"0.3.1","type":"multus","delegates":[]})", "recursive"},
  };
  for (const Case& one : cases) {
    const auto conf = conf_of(one.words, one.primary);
    ASSERT_FALSE(conf.has_value()) << one.primary;
    EXPECT_THAT(conf.error().text(), HasSubstr(one.text));
  }
}

struct Folder {
  sys::TestDir dir;
  std::vector<std::string> words{"--multus-autoconfig-dir=" + dir.path()};

  Result<Primary> choose(const std::string& last = {}) const {
    return choose_primary(options_of(words), last);
  }
};

TEST(Primary, IsTheFirstConfigurationThatIsNotOurs) {
  Folder folder;
  folder.dir.write("00-multus.conf", "{}");
  folder.dir.write("00-multus.conflist", "{}");
  folder.dir.write("01-dir.conf/inside", "");
  folder.dir.write("02.json", "{}");
  folder.dir.write("20-b.conf", "{}");
  folder.dir.write("10-a.conflist", "{}");

  const auto chosen = folder.choose();

  ASSERT_TRUE(chosen.has_value());
  EXPECT_EQ(chosen->path, folder.dir / "10-a.conflist");
}

TEST(Primary, ThatIsNamedIsTakenAloneAndNeverOurOwn) {
  Folder folder;
  folder.dir.write("10-a.conf", "{}");
  folder.words.push_back("--multus-master-cni-file-name=20-b.conf");
  EXPECT_EQ(folder.choose().error().code(), Errc::kNotFound);

  folder.dir.write("20-b.conf", "{}");
  EXPECT_EQ(folder.choose()->path, folder.dir / "20-b.conf");

  folder.words.back() = "--multus-master-cni-file-name=00-multus.conf";
  folder.dir.write("00-multus.conf", "{}");
  EXPECT_THAT(folder.choose().error().text(), HasSubstr("recursive"));
}

TEST(Primary, GivesWayToAnEarlierFileAndIsWaitedForWhenItIsGone) {
  Folder folder;
  folder.dir.write("87-podman.conflist", "{}");

  const auto gone = folder.choose("10-a.conf");
  ASSERT_FALSE(gone.has_value());
  EXPECT_EQ(gone.error().code(), Errc::kNotFound);
  EXPECT_THAT(gone.error().text(), HasSubstr("10-a.conf is gone"));

  folder.dir.write("05-b.conf", "{}");
  EXPECT_EQ(folder.choose("10-a.conf")->name, "05-b.conf");
}

TEST(Primary, ThatWasRenamedKeepsItsPlaceInTheOrder) {
  Folder folder;
  folder.words.push_back("--rename-conf-file");
  folder.dir.write("10-a.conf.old", "{}");
  folder.dir.write("20-b.conf", "{}");

  const auto renamed = folder.choose();
  ASSERT_TRUE(renamed.has_value());
  EXPECT_EQ(renamed->path, folder.dir / "10-a.conf.old");
  EXPECT_TRUE(renamed->is_renamed);

  folder.dir.write("10-a.conf", "{}");
  EXPECT_EQ(folder.choose()->path, folder.dir / "10-a.conf");
}

TEST(Primary, NeedsAFolder) {
  const auto nowhere = choose_primary(options_of({"--multus-autoconfig-dir=/none"}));
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_THAT(nowhere.error().text(), HasSubstr("cannot find valid master CNI config in /none"));
  const Folder empty;
  EXPECT_THAT(empty.choose().error().text(), HasSubstr("cannot find valid master CNI config in"));
}

TEST(Options, HaveTheDefaultsOfTheOriginal) {
  Options options = options_of({});

  EXPECT_EQ(options.cni_bin_dir, "/host/opt/cni/bin");
  EXPECT_EQ(options.cni_conf_dir, "/host/etc/cni/net.d");
  EXPECT_EQ(options.autoconfig_dir, "/host/etc/cni/net.d");
  EXPECT_TRUE(options.is_automatic());
  EXPECT_TRUE(options.log_to_stderr);
  EXPECT_FALSE(make_flags(options).parse({"--nosuch"}).has_value());
}

TEST(Options, UsageShowsEveryFlagButTheHiddenTwo) {
  Options options;
  const std::string text = make_flags(options).usage();

  for (const char* flag : {"--cni-bin-dir",
                           "--cni-conf-dir",
                           "--cni-version",
                           "--multus-conf-file",
                           "--multus-bin-file",
                           "--multus-cni-conf-dir",
                           "--skip-multus-binary-copy",
                           "--multus-kubeconfig-file-host",
                           "--multus-master-cni-file-name",
                           "--multus-autoconfig-dir",
                           "--namespace-isolation",
                           "--global-namespaces",
                           "--multus-log-to-stderr",
                           "--multus-log-level",
                           "--multus-log-file",
                           "--override-network-name",
                           "--cleanup-config-on-exit",
                           "--skip-config-watch",
                           "--rename-conf-file",
                           "--readiness-indicator-file",
                           "--additional-bin-dir"}) {
    EXPECT_THAT(text, HasSubstr(flag));
  }
  EXPECT_THAT(text, Not(HasSubstr("skip-tls-verify")));
  EXPECT_THAT(text, Not(HasSubstr("force-cni-version")));
}

}  // namespace
}  // namespace mnet::thin_entrypoint
