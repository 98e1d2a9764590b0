// ADD for a container that has a record already (02, 5.1 step 5; 02, 12: row 70; pain 21).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <string>

#include "attach/fake_ports.h"
#include "attach/node_fixture.h"
#include "attach/pod_fixture.h"
#include "attach/request_text.h"
#include "base/error.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/delegate.h"

namespace mnet::attach {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class AddAgainTest : public NodeTest {
 protected:
  void SetUp() override {
    auto first = add(request(conf_));
    ASSERT_TRUE(first) << first.error().text();
    forget();
  }
  const std::string conf_ = delegates({"a", "b"});
};

TEST_F(AddAgainTest, AnswersWithTheStoredResultAndRunsNothing) {
  auto again = add(request(conf_));

  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->interfaces.at(0).name, "eth0");
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.records.unsynced, IsEmpty());
}

TEST_F(AddAgainTest, SyncsBeforeItAnswersAgain) {
  node_.records.unsynced = {"c1", "a-c1-eth0"};
  ASSERT_TRUE(add(request(conf_)));
  EXPECT_THAT(node_.records.unsynced, IsEmpty());
}

TEST_F(AddAgainTest, StartsAnewWhenAResultIsMissing) {
  node_.records.results.erase("b-c1-net1");

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1", "DEL a eth0", "ADD a eth0", "ADD b net1"));
}

TEST_F(AddAgainTest, StartsAnewWhenALinkIsGone) {
  node_.links.namespaces["/ns"].erase("net1");
  ASSERT_TRUE(add(request(conf_)));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1", "DEL a eth0", "ADD a eth0", "ADD b net1"));
}

TEST_F(AddAgainTest, StartsAnewInAnotherNamespaceAndDeletesInTheOldOne) {
  node_.links.namespaces["/ns2"];
  RequestText what = request(conf_);
  what.netns = "/ns2";

  ASSERT_TRUE(add(what));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1", "DEL a eth0", "ADD a eth0", "ADD b net1"));
  EXPECT_EQ(node_.plugins.runs[0].netns, "/ns");
  EXPECT_EQ(node_.plugins.runs[2].netns, "/ns2");
  EXPECT_THAT(node_.links.namespaces["/ns"], IsEmpty());
}

TEST_F(AddAgainTest, StartsAnewFromADamagedScratchFile) {
  node_.records.damaged.insert("c1");
  ASSERT_TRUE(add(request(conf_)));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1", "DEL a eth0", "ADD a eth0", "ADD b net1"));
}

// The pod may be running: what cannot be read now is no reason to take it down.
TEST_F(AddAgainTest, TouchesNothingWhileTheRecordCannotBeRead) {
  FakeRecords& records = node_.records;
  for (const int why : {EMFILE, ENFILE, ENOMEM, EIO, EACCES}) {
    for (std::optional<Error>* failing :
         {&records.read_error, &records.scratch_error, &records.find_record_error}) {
      *failing = Error::from_errno(why, "open c1");

      auto again = add(request(conf_));

      ASSERT_FALSE(again);
      EXPECT_THAT(again.error(), HasCode(11));
      EXPECT_THAT(again.error().text(), HasSubstr("open c1"));
      failing->reset();
    }
  }
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_TRUE(records.scratch.contains("c1"));
  EXPECT_THAT(records.results, SizeIs(2));
  EXPECT_TRUE(add(request(conf_)));
  EXPECT_THAT(node_.runs(), IsEmpty());
}

TEST_F(AddAgainTest, DoesNotWriteOverARecordThatCannotBeReadEvenWithoutAScratchFile) {
  node_.records.scratch.clear();
  node_.records.find_record_error = Error::from_errno(EIO, "read c1.json");

  EXPECT_THAT(add(request(conf_)).error(), HasCode(11));

  EXPECT_THAT(node_.runs(), IsEmpty());
}

TEST_F(AddAgainTest, TouchesNothingWhileTheNamespaceCannotBeLookedInto) {
  node_.links.error = Error::from_errno(EMFILE, "open /ns");

  auto again = add(request(conf_));

  EXPECT_THAT(again.error(), HasCode(11));
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_TRUE(node_.records.scratch.contains("c1"));
}

TEST_F(AddAgainTest, NeverOverwritesWhatIsStillToBeDeleted) {
  node_.links.namespaces["/ns"].erase("net1");
  node_.plugins.errors.emplace("DEL b", Error(Errc::kPlugin, "stuck"));

  auto again = add(request(conf_));

  EXPECT_THAT(again.error(), HasCode(11));
  EXPECT_THAT(again.error().text(), HasSubstr("stuck"));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1", "DEL a eth0"));
  EXPECT_TRUE(node_.records.scratch.contains("c1"));
}

TEST_F(AddAgainTest, RefusesAnotherInterfaceForALiveContainer) {
  RequestText what = request(conf_);
  what.ifname = "eth1";

  auto again = add(what);

  EXPECT_THAT(again.error(), HasCode(11));
  EXPECT_THAT(again.error().text(), HasSubstr("already attached, as eth0"));
  EXPECT_THAT(node_.runs(), IsEmpty());
}

TEST_F(AddAgainTest, AfterAFailedAddStartsAnew) {
  ASSERT_TRUE(del(request(conf_)));
  node_.plugins.errors.emplace("ADD b", Error(Errc::kPlugin, "no"));
  ASSERT_FALSE(add(request(conf_)));
  node_.plugins.errors.clear();
  forget();

  EXPECT_TRUE(add(request(conf_)));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1", "DEL a eth0", "ADD a eth0", "ADD b net1"));
}

class AddPodAgainTest : public PodTest {
 protected:
  void SetUp() override {
    define("x");
    add_pod(R"([{"name":"x","default-route":["10.1.1.254"]}])");
    node_.links.inodes["/ns"] = 17;
    auto first = add(request(conf_));
    ASSERT_TRUE(first) << first.error().text();
    status_ = status();
    forget();
  }
  const std::string conf_ = delegates({"a"});
  std::string status_;
};

// 02, 12: row 70
TEST_F(AddPodAgainTest, KnowsTheNamespaceUnderAnotherPath) {
  node_.links.namespaces["/proc/7/ns/net"] = node_.links.namespaces["/ns"];
  node_.links.inodes["/proc/7/ns/net"] = 17;
  RequestText what = request(conf_);
  what.netns = "/proc/7/ns/net";

  ASSERT_TRUE(add(what));

  EXPECT_THAT(node_.runs(), IsEmpty());
}

// 02, 12: row 70
TEST_F(AddPodAgainTest, StartsAnewInANamespaceMadeAnewUnderTheSamePath) {
  node_.links.inodes["/ns"] = 18;

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL x net1", "DEL a eth0", "ADD a eth0", "ADD x net1"));
  EXPECT_EQ(model::decode_record(node_.records.records.at("c1"))->netns_inode, 18u);
}

// 05, 3.11: routes and status of an ADD that never ended may be missing
TEST_F(AddPodAgainTest, StartsAnewFromARecordThatWasNotFinished) {
  model::AttachmentRecord unfinished = record();
  unfinished.state = model::RecordState::kCreating;
  node_.records.records["c1"] = model::encode_record(unfinished);

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL x net1", "DEL a eth0", "ADD a eth0", "ADD x net1"));
}

TEST_F(AddPodAgainTest, GoesByThePathIfTheRecordIsDamaged) {
  node_.records.damaged_records.insert("c1");
  ASSERT_TRUE(add(request(conf_)));
  EXPECT_THAT(node_.runs(), IsEmpty());
}

TEST_F(AddPodAgainTest, LeavesRecordAndStatusUntouched) {
  const json::Object before = node_.records.records.at("c1");

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_EQ(json::Value(node_.records.records.at("c1")), json::Value(before));
  EXPECT_THAT(node_.calls, Not(Contains("write status ns1/p1")));
  EXPECT_THAT(node_.source.events, SizeIs(1));
}

TEST_F(AddPodAgainTest, WritesTheStatusThatThePodLacks) {
  node_.source.statuses.clear();

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_EQ(status(), status_);
}

TEST_F(AddPodAgainTest, TellsInAMissingStatusOfWhatWasPluggedInLater) {
  model::AttachmentRecord grown = record();
  model::RecordedAttachment later = grown.attachments.back();
  later.source = model::Source::kDelegateApi;
  later.network = "ns1/later";
  later.ifname = "net9";
  grown.attachments.push_back(later);
  node_.records.records["c1"] = model::encode_record(grown);
  node_.source.statuses.clear();

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_THAT(status(), HasSubstr("ns1/later"));
}

}  // namespace
}  // namespace mnet::attach
