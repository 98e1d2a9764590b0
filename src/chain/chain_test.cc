// 01, 10: rows X1 to X31, as far as they are about one network; X22 to X28 are refined by 02, 7.3
// (gc_test.cc).
#include "chain/chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/caller.h"
#include "chain/fake_ports.h"
#include "chain/plugins.h"
#include "cni/args.h"
#include "cni/cache.h"
#include "cni/error.h"
#include "cni/result.h"
#include "json/json.h"
#include "model/attachment.h"
#include "model/delegate.h"
#include "model/netconf.h"

namespace mnet::chain {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class ChainTest : public testing::Test {
 protected:
  static std::string list_text(const std::string& version, const std::string& plugins,
                               const std::string& more = "") {
    return cat(R"({"name":"n",)", version.empty() ? "" : cat(R"("cniVersion":")", version, R"(",)"),
               more, R"("plugins":[)", plugins, "]}");
  }

  static model::AttachmentPtr attachment(const std::string& config,
                                         const std::string& container_id = "c1",
                                         const std::string& ifname = "eth0") {
    model::Attachment made;
    made.delegate = model::parse_delegate(config).value();
    made.container_id = container_id;
    made.netns = "/ns";
    made.ifname = ifname;
    made.args = {{"K", "V"}};
    made.capability_args = {{"portMappings", "pm"}, {"no", "x"}, {"unlisted", "y"}};
    return std::make_shared<const model::Attachment>(std::move(made));
  }
  static model::DelegatePtr delegate(const std::string& config) {
    return std::make_shared<const model::Delegate>(model::parse_delegate(config).value());
  }

  Result<cni::NetResult> add(model::AttachmentPtr what) {
    return aio::run(chain_.add(std::move(what)));
  }
  Result<void> del(model::AttachmentPtr what) {
    const auto done = aio::run(chain_.del(std::move(what)));
    return done ? Result<void>() : Result<void>(done.error());
  }
  Result<void> check(model::AttachmentPtr what) { return aio::run(chain_.check(std::move(what))); }
  Result<void> status(model::DelegatePtr what) { return aio::run(chain_.status(std::move(what))); }
  Result<void> gc(model::DelegatePtr what, std::vector<model::AttachmentId> valid) {
    return aio::run(chain_.gc(std::move(what), std::move(valid)));
  }

  const json::Value* in_config(std::size_t run, std::string_view key) {
    configs_.push_back(node_.plugins.config(run));
    return configs_.back().find(key);
  }

  FakeNode node_;
  std::vector<json::Object> configs_;
  Chain chain(bool starts_early, std::optional<std::string> own_type = {}) {
    return {node_.plugins,
            node_.results,
            {.dirs = {"/b"},
             .cni_dir = "/cni",
             .request_id = "r",
             .ticket = 7,
             .caller = nullptr,
             .starts_early = starts_early,
             .own_type = std::move(own_type)},
            Log()};
  }
  aio::Task<void> added(model::AttachmentPtr what) {
    MNET_CO_TRY([[maybe_unused]] const auto& result, co_await chain_.add(std::move(what)));
    co_return Result<void>();
  }

  Chain chain_ = chain(true);
};

constexpr const char* kTwo = R"({"type":"p1"},{"type":"p2"})";
constexpr const char* kReal = R"({"type":"bridge"},{"type":"portmap"},{"type":"tuning"})";
constexpr const char* kThree = R"({"type":"p1"},{"type":"p2"},{"type":"p3"})";

// X1
TEST_F(ChainTest, AddHandsEachPluginThePreviousResult) {
  ASSERT_TRUE(add(attachment(list_text("0.4.0", kTwo))));

  ASSERT_THAT(node_.plugins.runs, SizeIs(2));
  EXPECT_EQ(in_config(0, "prevResult"), nullptr);
  ASSERT_NE(in_config(1, "prevResult"), nullptr);
  EXPECT_EQ(*in_config(1, "prevResult")->as_object()->find("cniVersion"), json::Value("0.4.0"));
  EXPECT_EQ(*in_config(1, "name"), json::Value("n"));
  EXPECT_EQ(*in_config(1, "cniVersion"), json::Value("0.4.0"));
}

TEST_F(ChainTest, AddStartsTheNextPluginWhileOneWorks) {
  node_.plugins.has_room_to_spare = true;
  auto hold = node_.plugins.hold("ADD n");
  aio::asio::io_context loop(1);
  aio::Group group(loop.get_executor(), Log());
  group.spawn("add", added(attachment(list_text("1.0.0", kReal))));

  ASSERT_TRUE(aio::run(loop, hold->reached.wait()));
  loop.poll();
  EXPECT_THAT(node_.calls, ElementsAre("early portmap"));
  hold->release.set();
  ASSERT_TRUE(aio::run(loop, group.join()));

  EXPECT_THAT(node_.calls, ElementsAre("early portmap", "ADD n eth0", "ADD n eth0", "early tuning",
                                       "ADD n eth0", "write result n-c1-eth0"));
  ASSERT_THAT(node_.plugins.runs, SizeIs(3));
  EXPECT_EQ(node_.plugins.runs[1].binary, "/bin/portmap");
  EXPECT_EQ(node_.plugins.runs[1].netns, "/ns");
  EXPECT_NE(in_config(1, "prevResult"), nullptr);
  EXPECT_EQ(node_.plugins.early, 0);
}

TEST_F(ChainTest, DelStartsTheNextPluginWhileOneWorks) {
  node_.plugins.has_room_to_spare = true;

  ASSERT_TRUE(del(attachment(list_text("1.0.0", kReal))));

  EXPECT_THAT(node_.calls, ElementsAre("DEL n eth0", "early portmap", "DEL n eth0", "early bridge",
                                       "DEL n eth0", "remove result n-c1-eth0"));
  ASSERT_THAT(node_.plugins.runs, SizeIs(3));
  EXPECT_EQ(node_.plugins.runs[1].binary, "/bin/portmap");
  EXPECT_EQ(node_.plugins.runs[1].command, "DEL");
  EXPECT_EQ(node_.plugins.early, 0);
}

TEST_F(ChainTest, ADelThatIsGivenUpRunsEveryPlugin) {
  Chain::Setting setting;
  setting.cni_dir = "/cni";
  setting.goes_on = true;
  Chain last(node_.plugins, node_.results, setting, Log());
  node_.plugins.errors.emplace("DEL n p3", Error(Errc::kPlugin, "no"));

  EXPECT_FALSE(aio::run(last.del(attachment(list_text("1.0.0", kThree)))));

  EXPECT_THAT(node_.plugins.runs, SizeIs(3));
}

TEST_F(ChainTest, DelTellsNothingToAPluginBeforeOneThatFails) {
  node_.plugins.has_room_to_spare = true;
  node_.plugins.errors.emplace("DEL n tuning", Error(Errc::kPlugin, "no"));

  EXPECT_FALSE(del(attachment(list_text("1.0.0", kReal))));

  EXPECT_THAT(node_.calls, Contains("early portmap"));
  EXPECT_THAT(node_.plugins.runs, SizeIs(1));
  EXPECT_EQ(node_.plugins.early, 0);
}

TEST_F(ChainTest, AddTellsNothingToAPluginBehindOneThatFails) {
  node_.plugins.has_room_to_spare = true;
  node_.plugins.errors.emplace("ADD n bridge", Error(Errc::kPlugin, "no"));

  EXPECT_FALSE(add(attachment(list_text("1.0.0", kReal))));

  EXPECT_THAT(node_.calls, ElementsAre("ADD n eth0", "early portmap"));
  EXPECT_EQ(node_.plugins.early, 0);
}

TEST_F(ChainTest, AddStartsOnlyThoseEarlyThatAreKnownToWait) {
  node_.plugins.has_room_to_spare = true;

  ASSERT_TRUE(add(attachment(list_text("1.0.0", R"({"type":"bridge"},{"type":"mine"})"))));
  Chain strict = chain(false);
  ASSERT_TRUE(aio::run(strict.add(attachment(list_text("1.0.0", kReal)))));

  EXPECT_THAT(node_.calls, Not(Contains(StartsWith("early"))));
}

// X2
TEST_F(ChainTest, AddSetsNameAndVersionOfTheList) {
  ASSERT_TRUE(add(attachment(list_text("", R"({"type":"p","name":"own","cniVersion":"1.0.0"})"))));

  EXPECT_EQ(*in_config(0, "cniVersion"), json::Value(""));
  EXPECT_EQ(*in_config(0, "name"), json::Value("n"));
}

// X3, X4
TEST_F(ChainTest, AddOffersOnlyWhatAPluginDeclares) {
  ASSERT_TRUE(add(attachment(list_text(
      "1.0.0", R"({"type":"p1","capabilities":{"portMappings":true,"other":true,"no":false}},)"
               R"({"type":"p2","runtimeConfig":{"mine":1}},{"type":"p3"})"))));

  EXPECT_EQ(*in_config(0, "runtimeConfig"), json::Value(json::Object{{"portMappings", "pm"}}));
  EXPECT_NE(in_config(0, "capabilities"), nullptr);
  EXPECT_EQ(*in_config(1, "runtimeConfig"), json::Value(json::Object{{"mine", 1}}));
  EXPECT_EQ(in_config(2, "runtimeConfig"), nullptr);
}

// X5
TEST_F(ChainTest, AddStopsAtTheFirstErrorAndUndoesNothing) {
  node_.plugins.errors.emplace("ADD n p2", cni::coded(cni::Code::kTryAgainLater, "busy"));

  auto result = add(attachment(list_text("1.0.0", kThree)));

  EXPECT_EQ(result.error().text(), "plugin type=\"p2\" failed (add): busy");
  EXPECT_EQ(result.error().origin()->code, 11u);
  EXPECT_THAT(node_.calls, ElementsAre("ADD n eth0", "ADD n eth0"));
  EXPECT_THAT(node_.results.results, IsEmpty());
}

// X6
TEST_F(ChainTest, AddNamesThePluginThatFailed) {
  node_.plugins.errors.emplace("ADD n", Error(Errc::kPlugin, "no"));

  auto result = add(attachment(list_text("1.0.0", R"({"type":"T","name":"own"})")));

  EXPECT_EQ(result.error().text(), "plugin type=\"T\" name=\"own\" failed (add): no");
}

// 01, 5.7
TEST_F(ChainTest, AddOfASingleConfDoesNotWrapAndKeepsTheConfsBytes) {
  const std::string conf = R"({ "name":"n",  "cniVersion":"1.0.0","type":"p" })";
  ASSERT_TRUE(add(attachment(conf)));
  EXPECT_EQ(node_.results.results.at("n-c1-eth0").config, conf);

  node_.plugins.errors.emplace("ADD n", Error(Errc::kPlugin, "no"));
  EXPECT_EQ(add(attachment(conf)).error().text(), "no");
}

// X7
TEST_F(ChainTest, AddChecksItsNames) {
  const std::string config = list_text("1.0.0", kTwo);
  EXPECT_EQ(add(attachment(config, "")).error().origin()->code, 3u);
  EXPECT_EQ(add(attachment(config, "%")).error().origin()->code, 4u);
  EXPECT_EQ(add(attachment(config, "c1", "a/b")).error().origin()->code, 4u);
  EXPECT_EQ(add(attachment(R"({"name":"a/b","plugins":[{"type":"p"}]})")).error().origin()->code,
            7u);
  EXPECT_THAT(add(attachment(config, "")).error().text(),
              StartsWith("plugin type=\"p1\" failed (add): missing containerID"));
  EXPECT_THAT(node_.plugins.runs, IsEmpty());
}

// X8
TEST_F(ChainTest, AddMissesThePluginBeforeItLooksAtTheNames) {
  node_.plugins.missing = {"p1"};

  auto result = add(attachment(list_text("1.0.0", kTwo), ""));

  EXPECT_THAT(result.error().text(), HasSubstr("failed to find plugin \"p1\" in path [/b]"));
}

// X9
TEST_F(ChainTest, AddFailsIfTheResultCannotBeRemembered) {
  node_.results.errors.emplace("write result n-c1-eth0", Error(Errc::kIo, "not a directory"));

  auto result = add(attachment(list_text("1.0.0", kTwo)));

  EXPECT_EQ(result.error().text(), "failed to set network \"n\" cached result: not a directory");
}

TEST_F(ChainTest, AddRemembersAllThatDelNeeds) {
  const std::string config = list_text("1.0.0", kTwo);
  ASSERT_TRUE(add(attachment(config)));

  const cni::CacheEntry& entry = node_.results.results.at("n-c1-eth0");
  EXPECT_EQ(entry.config, config);
  EXPECT_EQ(entry.netns, "/ns");
  EXPECT_THAT(entry.cni_args, ElementsAre(testing::Pair("K", "V")));
  EXPECT_EQ(entry.capability_args.size(), 3u);
  EXPECT_NE(entry.result->as_object()->find("ips"), nullptr);
  EXPECT_EQ(node_.plugins.runs[0].ticket, 7u);
  EXPECT_EQ(node_.plugins.runs[0].request_id, "r");
}

// X31
TEST_F(ChainTest, AResultStaysInTheVersionItCameIn) {
  node_.plugins.answers["ADD n p1"] =
      R"({"cniVersion":"0.3.1","ips":[{"version":"4","address":"10.0.0.2/24"}]})";
  node_.plugins.answers["ADD n p2"] = node_.plugins.answers["ADD n p1"];
  const auto both = attachment(list_text("0.4.0", kTwo));

  auto result = add(both);

  EXPECT_EQ(result->version, "0.3.1");
  EXPECT_EQ(*in_config(1, "prevResult")->as_object()->find("cniVersion"), json::Value("0.3.1"));
  EXPECT_EQ(*node_.results.results.at("n-c1-eth0").result->as_object()->find("cniVersion"),
            json::Value("0.3.1"));
  ASSERT_TRUE(check(both));
  EXPECT_EQ(*in_config(2, "prevResult")->as_object()->find("cniVersion"), json::Value("0.4.0"));
}

TEST_F(ChainTest, AddStopsBeforeThePluginThatWouldStartAfterTheCallerLeft) {
  auto caller = std::make_shared<Caller>();
  Chain chain(node_.plugins, node_.results,
              {.dirs = {}, .cni_dir = "", .request_id = "", .caller = caller}, Log());
  node_.plugins.on_run = [&](const PluginRun&) { caller->leave(); };

  auto result = aio::run(chain.add(attachment(list_text("1.0.0", kThree))));

  EXPECT_EQ(result.error().code(), Errc::kCancelled);
  EXPECT_THAT(node_.plugins.runs, SizeIs(1));
}

// X10
TEST_F(ChainTest, CheckNeedsAVersionThatKnowsItBeforeAnythingElse) {
  EXPECT_EQ(check(attachment(list_text("0.3.1", kTwo, R"("disableCheck":true,)"))).error().text(),
            "configuration version \"0.3.1\" does not support the CHECK command");
}

// X11
TEST_F(ChainTest, CheckCanBeSwitchedOff) {
  EXPECT_TRUE(check(attachment(list_text("0.4.0", kTwo, R"("disableCheck":true,)"))));
  EXPECT_THAT(node_.plugins.runs, IsEmpty());
}

// X12
TEST_F(ChainTest, CheckRunsWithoutAnEntryToo) {
  ASSERT_TRUE(check(attachment(list_text("0.4.0", kTwo))));
  EXPECT_THAT(node_.plugins.runs, SizeIs(2));
  EXPECT_EQ(in_config(0, "prevResult"), nullptr);
}

// X13
TEST_F(ChainTest, CheckRefusesAnUnreadableEntry) {
  node_.results.damaged_results = {"n-c1-eth0"};
  EXPECT_THAT(check(attachment(list_text("0.4.0", kTwo))).error().text(),
              StartsWith("failed to get network \"n\" cached result: decoding version"));
}

// X14
TEST_F(ChainTest, CheckStopsAtTheFirstErrorUnwrapped) {
  node_.plugins.errors.emplace("CHECK n p2", cni::coded(cni::Code::kInvalidConfig, "gone"));

  auto result = check(attachment(list_text("0.4.0", kThree)));

  EXPECT_EQ(result.error().text(), "gone");
  EXPECT_EQ(result.error().origin()->code, 7u);
  EXPECT_THAT(node_.plugins.runs, SizeIs(2));
}

// Today's rules would refuse this `driver.type`; an earlier version attached the network with it.
TEST_F(ChainTest, CheckAndDelRunWhatAnEarlierVersionAttached) {
  const auto old =
      attachment(list_text("0.4.0", R"({"type":"p1","driver":{"type":"net/virtio"}})"));
  Chain guarded = chain(true, "multus");
  ASSERT_FALSE(aio::run(guarded.add(old)));
  ASSERT_THAT(node_.plugins.runs, IsEmpty());

  EXPECT_TRUE(aio::run(guarded.check(old)));
  EXPECT_TRUE(aio::run(guarded.del(old)));

  EXPECT_THAT(node_.plugins.runs, SizeIs(2));
  const auto own = attachment(list_text("0.4.0", R"({"type":"multus"})"));
  EXPECT_FALSE(aio::run(guarded.check(own)));
  EXPECT_THAT(node_.plugins.runs, SizeIs(2));
}

// X15, X19
TEST_F(ChainTest, DelRunsInReverseWithTheSameResultAndForgetsIt) {
  const auto three = attachment(list_text("1.0.0", kThree));
  ASSERT_TRUE(add(three));
  node_.plugins.runs.clear();

  ASSERT_TRUE(del(three));

  ASSERT_THAT(node_.plugins.runs, SizeIs(3));
  EXPECT_EQ(node_.plugins.runs[0].binary, "/bin/p3");
  EXPECT_EQ(node_.plugins.runs[2].binary, "/bin/p1");
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NE(in_config(i, "prevResult"), nullptr);
  EXPECT_THAT(node_.results.results, IsEmpty());
  EXPECT_TRUE(del(three));
}

// X16
TEST_F(ChainTest, DelStopsAtAnErrorAndCanBeRepeated) {
  const auto three = attachment(list_text("1.0.0", kThree));
  ASSERT_TRUE(add(three));
  node_.plugins.runs.clear();
  node_.plugins.errors.emplace("DEL n p2", Error(Errc::kPlugin, "stuck"));

  EXPECT_EQ(del(three).error().text(), "plugin type=\"p2\" failed (delete): stuck");
  EXPECT_THAT(node_.plugins.runs, SizeIs(2));
  EXPECT_TRUE(node_.results.results.contains("n-c1-eth0"));

  node_.plugins.errors.clear();
  EXPECT_TRUE(del(three));
  EXPECT_THAT(node_.results.results, IsEmpty());
}

// What the last plugin gave up may belong to another container by the time of the second attempt.
TEST_F(ChainTest, DelResumesAtThePluginThatFailed) {
  const auto three = attachment(list_text("1.0.0", kThree));
  ASSERT_TRUE(add(three));
  node_.plugins.runs.clear();
  node_.plugins.errors.emplace("DEL n p1", Error(Errc::kPlugin, "stuck"));
  EXPECT_FALSE(del(three));
  EXPECT_FALSE(del(three));

  node_.plugins.errors.clear();
  EXPECT_TRUE(del(three));

  std::vector<std::string> binaries;
  for (const PluginRun& run : node_.plugins.runs) binaries.push_back(run.binary);
  EXPECT_THAT(binaries, ElementsAre("/bin/p3", "/bin/p2", "/bin/p1", "/bin/p1", "/bin/p1"));
  ASSERT_TRUE(add(three));
  node_.plugins.runs.clear();
  EXPECT_TRUE(del(three));
  EXPECT_THAT(node_.plugins.runs, SizeIs(3)) << "a new ADD begins anew";
}

TEST_F(ChainTest, DelTakesAPluginThatDoesNotKnowTheContainerForDone) {
  const auto three = attachment(list_text("1.0.0", kThree));
  ASSERT_TRUE(add(three));
  node_.plugins.runs.clear();
  node_.plugins.errors.emplace("DEL n p2", cni::coded(cni::Code::kUnknownContainer, "which?"));

  EXPECT_TRUE(del(three));
  EXPECT_THAT(node_.plugins.runs, SizeIs(3));
  EXPECT_THAT(node_.results.results, IsEmpty());
}

// X17
TEST_F(ChainTest, DelOfAnOldVersionDoesNotHandTheResultOn) {
  const auto one = attachment(list_text("0.3.1", R"({"type":"p"})"));
  ASSERT_TRUE(add(one));

  ASSERT_TRUE(del(one));

  EXPECT_EQ(in_config(1, "prevResult"), nullptr);
  EXPECT_THAT(node_.results.results, IsEmpty());
}

// X18
TEST_F(ChainTest, DelRemovesADamagedEntryAndGoesOn) {
  node_.results.damaged_results = {"n-c1-eth0"};
  node_.plugins.errors.emplace("DEL n", Error(Errc::kPlugin, "no"));

  EXPECT_THAT(del(attachment(list_text("0.4.0", kTwo))).error().text(), HasSubstr("no"));
  EXPECT_THAT(node_.results.damaged_results, IsEmpty());
}

// X20
TEST_F(ChainTest, DelNeedsAVersionThatCanBeRead) {
  EXPECT_THAT(del(attachment(list_text("zz", kTwo))).error().text(),
              HasSubstr("failed to convert major version part \"zz\""));
  EXPECT_THAT(node_.plugins.runs, IsEmpty());
}

// X21
TEST_F(ChainTest, DelRunsForAContainerIdThatIsNoFileName) {
  ASSERT_TRUE(del(attachment(list_text("1.0.0", kTwo), "../../x")));
  EXPECT_THAT(node_.plugins.runs, SizeIs(2));
}

// X29
TEST_F(ChainTest, StatusAsksOnlyNewListsAndKeepsTheFirstCode) {
  EXPECT_TRUE(status(delegate(list_text("1.0.0", kThree))));
  EXPECT_TRUE(status(delegate(list_text("zz", kThree))));
  EXPECT_THAT(node_.plugins.runs, IsEmpty());

  node_.plugins.errors.emplace("STATUS n p2", cni::coded(cni::Code::kNotAvailable, "down", "why"));
  auto result = status(delegate(list_text("1.1.0", kThree)));
  EXPECT_EQ(result.error().text(), "down; why");
  EXPECT_EQ(result.error().origin()->code, 50u);
  EXPECT_THAT(node_.plugins.runs, SizeIs(2));
  EXPECT_EQ(*in_config(0, "name"), json::Value("n"));
  EXPECT_EQ(*in_config(0, "cniVersion"), json::Value("1.1.0"));
}

// X22
TEST_F(ChainTest, GcCanBeSwitchedOff) {
  EXPECT_TRUE(gc(delegate(list_text("1.1.0", kTwo, R"("disableGC":true,)")), {}));
  EXPECT_TRUE(gc(delegate(list_text("1.0.0", kTwo)), {}));
  EXPECT_THAT(node_.plugins.runs, IsEmpty());
}

// X23, X24, X28
TEST_F(ChainTest, GcTellsEveryPluginUnderBothKeysWhatIsValid) {
  ASSERT_TRUE(gc(delegate(list_text("1.1.0", kTwo)), {{"c1", "eth0"}}));
  ASSERT_TRUE(gc(delegate(list_text("1.1.0", R"({"type":"p1"})")), {}));

  ASSERT_THAT(node_.plugins.runs, SizeIs(3));
  const json::Value valid = json::parse(R"([{"containerID":"c1","ifname":"eth0"}])").value();
  EXPECT_EQ(*in_config(1, "cni.dev/valid-attachments"), valid);
  EXPECT_EQ(*in_config(1, "cni.dev/attachments"), valid);
  EXPECT_EQ(*in_config(2, "cni.dev/valid-attachments"), json::Value(json::Array()));
  const PluginRun& run = node_.plugins.runs[0];
  EXPECT_EQ(run.command, "GC");
  EXPECT_EQ(cat(run.container_id, run.netns, run.ifname, cni::args_text(run.args)), "");
  EXPECT_THAT(run.dirs, ElementsAre("/b"));
}

// X27
TEST_F(ChainTest, GcGoesOnAfterErrorsAndTellsThemAll) {
  node_.plugins.errors.emplace("GC n p1", Error(Errc::kPlugin, "one"));
  node_.plugins.errors.emplace("GC n p3", cni::coded(cni::Code::kIo, "three"));

  auto result = gc(delegate(list_text("1.1.0", kThree)), {});

  EXPECT_EQ(result.error().text(), "failed to GC plugin p1: one\nfailed to GC plugin p3: three");
  EXPECT_EQ(result.error().origin()->code, 5u);
  EXPECT_THAT(node_.plugins.runs, SizeIs(3));
}

// 01, 3.1; 02, 12: row 162
TEST_F(ChainTest, AddDropsIncompleteElementsOfAResult) {
  node_.plugins.answers["ADD n"] =
      R"({"cniVersion":"1.0.0","ips":[{"gateway":"10.0.0.1"},{"address":"10.0.0.2/24"}],)"
      R"("routes":[{"gw":"10.0.0.1"}]})";

  auto result = add(attachment(list_text("1.0.0", R"({"type":"p"})")));

  ASSERT_TRUE(result) << result.error().text();
  EXPECT_THAT(result->ips, SizeIs(1));
  EXPECT_THAT(result->routes, IsEmpty());
}

}  // namespace
}  // namespace mnet::chain
