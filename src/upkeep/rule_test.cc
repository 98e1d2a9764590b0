#include "upkeep/rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "attach/attach.h"
#include "attach/node_fixture.h"
#include "attach/request.h"
#include "attach/request_text.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "json/json.h"
#include "model/attachment_record.h"

namespace mnet::upkeep {
namespace {

using attach::RequestText;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Containers in namespaces of their own, whose DELs the rule judges. Every fake plugin gives the
// same address.
class RuleTest : public attach::NodeTest {
 protected:
  void add_container(const std::string& id, const std::string& network, std::uint64_t inode) {
    const std::string netns = cat("/", id);
    node_.links.namespaces[netns];
    node_.links.inodes[netns] = inode;
    auto added = add(of(id, network));
    ASSERT_TRUE(added) << added.error().text();
    forget();
  }
  static RequestText of(const std::string& id, const std::string& network) {
    RequestText text = request(delegates({network}));
    text.container_id = id;
    text.netns = cat("/", id);
    return text;
  }
  Result<attach::DelOutcome> del_later(const std::string& id) {
    auto request = attach::read_text(attach::Verb::kDel, of(id, "other"), log_);
    request->rule = &rule_;
    return aio::run(loop_, attachments_.typed().del(*std::move(request)));
  }
  std::string netns_of_run() const { return node_.plugins.runs.at(0).netns; }

  Rule rule_{node_.records, node_.records, node_.links, ""};
};

TEST_F(RuleTest, ADelGetsTheNamespaceThatWasRecorded) {
  add_container("c1", "a", 7);

  EXPECT_TRUE(attach::complete(del_later("c1")));

  EXPECT_EQ(netns_of_run(), "/c1");
}

// `/proc/<pid>` is used again.
TEST_F(RuleTest, ADelGetsNoNamespaceWhereAnotherIsNow) {
  add_container("c1", "a", 7);
  node_.links.inodes["/c1"] = 8;

  EXPECT_TRUE(attach::complete(del_later("c1")));

  EXPECT_EQ(netns_of_run(), "");
  EXPECT_THAT(node_.records.records, IsEmpty());
}

TEST_F(RuleTest, ADelGetsNoNamespaceOfAnotherBoot) {
  add_container("c1", "a", 7);
  Rule rebooted(node_.records, node_.records, node_.links, "another boot");
  auto request = attach::read_text(attach::Verb::kDel, of("c1", "a"), log_);
  request->rule = &rebooted;

  EXPECT_TRUE(attach::complete(aio::run(loop_, attachments_.typed().del(*std::move(request)))));

  EXPECT_EQ(netns_of_run(), "");
}

TEST_F(RuleTest, ADelGetsNoNamespaceWhereNoneWasRecorded) {
  add_container("c1", "a", 7);
  node_.records.records.clear();

  EXPECT_TRUE(attach::complete(del_later("c1")));

  EXPECT_EQ(netns_of_run(), "");
}

TEST_F(RuleTest, NothingRunsWhileTheNamespaceCannotBeLookedAt) {
  add_container("c1", "a", 7);
  node_.links.error = Error::from_errno(EMFILE, "open /c1");

  EXPECT_FALSE(attach::complete(del_later("c1")));

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_TRUE(node_.records.records.contains("c1"));
}

TEST_F(RuleTest, ANetworkStaysWhileALivingContainerHoldsItsAddress) {
  add_container("c1", "a", 7);
  add_container("c2", "a", 8);
  node_.links.namespaces.erase("/c1");

  const auto held = del_later("c1");

  EXPECT_THAT(node_.runs(), IsEmpty());
  ASSERT_TRUE(held && held->failed);
  EXPECT_THAT(held->failed->text(),
              HasSubstr("network a, interface eth0 of container c1 is not deleted, because its "
                        "device or address now belongs to container c2 of pod ns1/p1"));
  EXPECT_TRUE(node_.records.records.contains("c1"));
  node_.links.namespaces.erase("/c2");
  EXPECT_TRUE(attach::complete(del_later("c1")));
}

// Its record was reconstructed when one of its networks was unplugged: the original had attached
// it.
TEST_F(RuleTest, ANetworkStaysWhileAContainerHoldsItsAddressWhoseNamespaceIsNotOnRecord) {
  add_container("c1", "a", 7);
  add_container("c2", "a", 8);
  node_.links.namespaces.erase("/c1");
  auto record = model::decode_record(node_.records.records.at("c2")).value();
  record.netns_inode = 0;
  node_.records.records["c2"] = model::encode_record(record);

  const auto held = del_later("c1");

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_TRUE(held && held->failed);
}

TEST_F(RuleTest, AnAddressOnAnotherNetworkIsAnotherAddress) {
  add_container("c1", "a", 7);
  add_container("c2", "b", 8);

  EXPECT_TRUE(attach::complete(del_later("c1")));
}

// The author of a definition chooses its CNI name and its addresses: with those of another
// namespace's network it would keep that one's addresses from ever being free.
TEST_F(RuleTest, ADefinitionOfAnotherNamespaceHoldsNothing) {
  add_container("c1", "a", 7);
  add_container("c2", "a", 8);
  const auto define = [&](const std::string& id, const std::string& definition) {
    auto record = model::decode_record(node_.records.records.at(id)).value();
    record.attachments[0].network = definition;
    node_.records.records[id] = model::encode_record(record);
  };
  define("c1", "ns1/a");
  define("c2", "ns1/b");
  EXPECT_FALSE(attach::complete(del_later("c1")));

  define("c2", "ns2/a");

  EXPECT_TRUE(attach::complete(del_later("c1")));
}

TEST_F(RuleTest, ANetworkStaysWhileALivingContainerHoldsItsDevice) {
  add_container("c1", "a", 7);
  add_container("c2", "b", 8);
  for (const char* id : {"c1", "c2"}) {
    auto record = model::decode_record(node_.records.records.at(id)).value();
    record.attachments[0].device_id = "0000:3b:02.1";
    node_.records.records[id] = model::encode_record(record);
  }
  node_.records.scratch.at("c1")[0].as_object()->set("deviceID", "0000:3b:02.1");

  EXPECT_FALSE(attach::complete(del_later("c1")));
  EXPECT_THAT(node_.runs(), IsEmpty());

  node_.links.inodes["/c2"] = 9;  // the path is used again: its container is gone
  EXPECT_TRUE(attach::complete(del_later("c1")));
}

TEST_F(RuleTest, NothingRunsWhileARecordCannotBeRead) {
  add_container("c1", "a", 7);
  node_.records.find_record_error = Error::from_errno(EIO, "read");

  EXPECT_FALSE(attach::complete(del_later("c1")));

  EXPECT_THAT(node_.runs(), IsEmpty());
}

// A container that the runtime asks for is the runtime's concern.
TEST_F(RuleTest, ADelOfTheRuntimeIsNotJudged) {
  add_container("c1", "a", 7);
  node_.links.inodes["/c1"] = 8;
  auto request = attach::read_text(attach::Verb::kDel, of("c1", "a"), log_);

  EXPECT_TRUE(attach::complete(aio::run(loop_, attachments_.typed().del(*std::move(request)))));

  EXPECT_EQ(netns_of_run(), "/c1");
}

// Containers come and go: their paths, addresses, devices and, after a boot, the numbers of their
// namespaces are used again. What the last one of a path has is its own until the path is gone.
class RuleProperty : public RuleTest, public ::testing::WithParamInterface<unsigned> {
 protected:
  struct Container {
    std::string id, path, network;
    std::string device = {};
    std::uint64_t inode = 0;
    bool is_of_this_boot = true;
  };
  unsigned draw(unsigned limit) { return static_cast<unsigned>(random_() % limit); }

  void add_one() {
    Container one{.id = cat("c", containers_.size()),
                  .path = cat("/p", draw(4)),
                  .network = draw(2) == 0 ? "a" : "b",
                  .inode = 100 + containers_.size()};
    if (draw(3) == 0) one.device = cat("0000:3b:02.", draw(2));
    node_.links.namespaces[one.path] = {};
    node_.links.inodes[one.path] = one.inode;
    RequestText text = of(one.id, one.network);
    text.netns = one.path;
    const auto added = add(text);
    ASSERT_TRUE(added) << added.error().text();
    forget();
    auto record = model::decode_record(node_.records.records.at(one.id)).value();
    record.attachments[0].device_id = one.device;
    if (draw(4) == 0) {
      one.is_of_this_boot = false;
      record.boot_id = "earlier";
    }
    node_.records.records[one.id] = model::encode_record(record);
    if (!one.device.empty()) {
      node_.records.scratch.at(one.id)[0].as_object()->set("deviceID", one.device);
    }
    containers_.push_back(one);
  }
  Result<void> del_one(const Container& one) {
    RequestText text = of(one.id, "other");
    text.netns = one.path;
    auto request = attach::read_text(attach::Verb::kDel, text, log_);
    request->rule = &rule_;
    return attach::complete(aio::run(loop_, attachments_.typed().del(*std::move(request))));
  }
  bool is_there(const std::string& path) const { return node_.links.namespaces.contains(path); }
  bool lives(const Container& one) const {
    return one.is_of_this_boot && is_there(one.path) &&
           node_.links.inodes.at(one.path) == one.inode;
  }
  // Every fake plugin gives the same address, so one network has one.
  bool is_held(const Container& gone) const {
    return std::ranges::any_of(containers_, [&](const Container& other) {
      return other.id != gone.id && lives(other) && node_.records.records.contains(other.id) &&
             (other.network == gone.network ||
              (!gone.device.empty() && other.device == gone.device));
    });
  }

  std::minstd_rand random_{GetParam()};
  std::vector<Container> containers_;
};

TEST_P(RuleProperty, ADelTouchesNothingOfALivingContainer) {
  for (unsigned step = 0; step < 30; ++step) {
    if (containers_.empty() || draw(3) == 0) add_one();
    if (draw(6) == 0) node_.links.namespaces.erase(cat("/p", draw(4)));
    const Container& one = containers_[draw(static_cast<unsigned>(containers_.size()))];
    if (lives(one) || !node_.records.records.contains(one.id)) continue;
    const bool is_kept = is_held(one);
    const bool leads_elsewhere = is_there(one.path);  // before the fakes make what they look at
    forget();

    const auto done = del_one(one);

    const std::string where = cat("step ", step, ", container ", one.id);
    EXPECT_EQ(done.has_value(), !is_kept) << where;
    EXPECT_EQ(node_.records.records.contains(one.id), is_kept) << where;
    EXPECT_EQ(node_.runs().empty(), is_kept) << where;
    for (const auto& run : node_.plugins.runs) {
      EXPECT_EQ(run.netns, leads_elsewhere ? "" : one.path) << where;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RuleProperty, ::testing::Range(1u, 101u));

}  // namespace
}  // namespace mnet::upkeep
