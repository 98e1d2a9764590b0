#include "hotplug/difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/networks_annotation.h"
#include "model/selection_element.h"

namespace mnet::hotplug {
namespace {

using model::AttachmentState;
using model::Source;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<model::NetworkSelectionElement> elements(std::string_view text) {
  return model::parse_networks_annotation(text, "ns1").value();
}

// `-net1` for a removal, `+net2 ns1/b` for an addition, in the order of execution.
std::vector<std::string> shown(const Difference& difference) {
  std::vector<std::string> out;
  for (const Removal& one : difference.removals) out.push_back(cat("-", one.ifname));
  for (const Addition& one : difference.additions) {
    out.push_back(cat("+", one.ifname, " ", network_of(one.element)));
  }
  return out;
}

// `<interface> <network>: <reason>`
std::vector<std::string> shown(const std::vector<Refusal>& refusals) {
  std::vector<std::string> out;
  for (const Refusal& one : refusals) {
    out.push_back(cat(one.ifname, " ", one.network, ": ", one.reason));
  }
  return out;
}

class DifferenceTest : public testing::Test {
 protected:
  DifferenceTest() { add(Source::kCluster, "cbr0", "eth0"); }

  model::RecordedAttachment& add(Source source, const std::string& network,
                                 const std::string& ifname,
                                 AttachmentState state = AttachmentState::kAttached) {
    model::RecordedAttachment one;
    one.source = source;
    one.network = network;
    one.cni_name = network.substr(network.find('/') + 1);
    one.ifname = ifname;
    one.state = state;
    record_.attachments.push_back(std::move(one));
    rules_.links.insert(ifname);
    return record_.attachments.back();
  }
  // As net1, net2 and so on.
  void add_all(const std::vector<std::pair<Source, std::string>>& networks) {
    for (std::size_t i = 0; i < networks.size(); ++i) {
      add(networks[i].first, networks[i].second, cat("net", i + 1));
    }
  }
  Difference of(std::string_view annotation) const {
    return difference(elements(annotation), record_, rules_);
  }

  model::AttachmentRecord record_;
  DifferenceRules rules_;
};

TEST_F(DifferenceTest, IsNoneWhereTheAnnotationNamesWhatIsAttached) {
  add(Source::kAnnotation, "ns1/a", "net1");
  add(Source::kHotplug, "ns1/b", "blue");

  EXPECT_THAT(shown(of("a,b@blue")), IsEmpty());
  EXPECT_EQ(of("a,b@blue").matched, 2);
  EXPECT_TRUE(of("a,b@blue").is_empty());
}

// 05, 4: row 27
TEST_F(DifferenceTest, DoesNotDependOnTheOrderOfElements) {
  add(Source::kAnnotation, "ns1/a", "net1");
  add(Source::kAnnotation, "ns1/b", "net2");

  EXPECT_THAT(shown(of("b,a")), IsEmpty());
}

// 05, 4: row 24
TEST_F(DifferenceTest, IsNoneIfANameIsAddedOrTakenAway) {
  add(Source::kAnnotation, "ns1/a", "net1").auto_name = true;
  add(Source::kHotplug, "ns1/b", "blue");

  EXPECT_THAT(shown(of("a@net1,b")), IsEmpty());
}

// 05, 4: rows 17, 18 and 23
TEST_F(DifferenceTest, AddsWhatIsNotAttached) {
  EXPECT_THAT(shown(of("a@net1")), ElementsAre("+net1 ns1/a"));
  add(Source::kAnnotation, "ns1/a", "net1").auto_name = true;
  EXPECT_THAT(shown(of("a,b@blue")), ElementsAre("+blue ns1/b"));
}

// 05, 4: rows 19 and 20
TEST_F(DifferenceTest, RemovesWhatIsNotNamedNewestFirst) {
  add_all({{Source::kAnnotation, "ns1/a"},
           {Source::kAnnotation, "ns1/b"},
           {Source::kHotplug, "ns1/c"}});

  EXPECT_THAT(shown(of("b")), ElementsAre("-net3", "-net1"));
  EXPECT_THAT(shown(of("")), ElementsAre("-net3", "-net2", "-net1"));
  EXPECT_THAT(shown(of("[]")), ElementsAre("-net3", "-net2", "-net1"));
}

// 05, 4: row 22
TEST_F(DifferenceTest, ReplacesTheNetworkBehindAName) {
  add(Source::kAnnotation, "ns1/a", "net1");

  EXPECT_THAT(shown(of("b@net1")), ElementsAre("-net1", "+net1 ns1/b"));
}

// 05, 4: row 26
TEST_F(DifferenceTest, RemovesTheLaterOfTwoEqualOnes) {
  add(Source::kAnnotation, "ns1/a", "net1").auto_name = true;
  add(Source::kHotplug, "ns1/a", "net2").auto_name = true;

  EXPECT_THAT(shown(of("a")), ElementsAre("-net2"));
}

// 05, 4: rows 29 and 63
TEST_F(DifferenceTest, LeavesAloneWhatThePodDidNotAskFor) {
  add_all({{Source::kDefaultNetworks, "d"}, {Source::kAuxChain, "x"}, {Source::kDelegateApi, "y"}});

  EXPECT_THAT(shown(of("")), IsEmpty());
  EXPECT_THAT(shown(of("a")), ElementsAre("+net4 ns1/a"));
}

// 05, 4: row 25
TEST_F(DifferenceTest, GivesUnnamedOnesTheSmallestFreeNumber) {
  add(Source::kAnnotation, "ns1/a", "net1");
  rules_.links.insert("net3");

  EXPECT_THAT(shown(of("a,b,c@net2,d")), ElementsAre("+net4 ns1/b", "+net2 ns1/c", "+net5 ns1/d"));
  EXPECT_TRUE(of("a,b").additions.front().auto_name);
  EXPECT_FALSE(of("a,b@x").additions.front().auto_name);
}

TEST_F(DifferenceTest, GivesTheNameOfWhatGoesToWhatComes) {
  add(Source::kAnnotation, "ns1/a", "net1").auto_name = true;

  EXPECT_THAT(shown(of("b")), ElementsAre("-net1", "+net1 ns1/b"));
}

TEST_F(DifferenceTest, DoesNotGiveANameThatCouldNotBeFreed) {
  add(Source::kAnnotation, "ns1/a", "net1", AttachmentState::kRemoving).auto_name = true;

  EXPECT_THAT(shown(of("b")), ElementsAre("-net1", "+net2 ns1/b"));
}

// 05, 4: rows 49 and 50
TEST_F(DifferenceTest, AttachesAnewUnderItsNameWhatWasLeftHalfDone) {
  add(Source::kHotplug, "ns1/a", "net1", AttachmentState::kAdding).auto_name = true;
  add(Source::kHotplug, "ns1/b", "blue", AttachmentState::kRemoving);

  EXPECT_THAT(shown(of("a,b@blue")), ElementsAre("-blue", "-net1", "+net1 ns1/a", "+blue ns1/b"));
  EXPECT_THAT(shown(of("a")), ElementsAre("-blue", "-net1", "+net1 ns1/a"));
}

// 05, 4: row 28
TEST_F(DifferenceTest, TellsOfChangedAttributesAndChangesNothing) {
  add(Source::kAnnotation, "ns1/a", "net1").attributes =
      json::parse_object(R"({"ips":["10.0.0.1/24"],"default-route":["10.0.0.9"]})").value();

  const auto now = of(R"([{"name":"a","interface":"net1","ips":["10.0.0.2/24"]}])");

  EXPECT_THAT(shown(now), IsEmpty());
  EXPECT_THAT(shown(now.ignored), ElementsAre(HasSubstr("net1 ns1/a: its attributes have")));
  EXPECT_THAT(of(R"([{"name":"a","ips":["10.0.0.1/24"],"mac":""}])").ignored, IsEmpty());
}

// 05, 4: row 28
TEST_F(DifferenceTest, ReplacesChangedAttributesUnderTheSameNameIfToldTo) {
  add(Source::kAnnotation, "ns1/a", "net1").auto_name = true;
  rules_.replaces_on_change = true;

  const auto now = of(R"([{"name":"b"},{"name":"a","mac":"02:00:00:00:00:01"}])");

  EXPECT_THAT(shown(now), ElementsAre("-net1", "+net2 ns1/b", "+net1 ns1/a"));
  EXPECT_THAT(now.ignored, IsEmpty());
}

// 05, 4: row 31
TEST_F(DifferenceTest, RefusesTheClustersInterfaceAndNamesThatComeTwice) {
  const auto now = of("a@eth0,b@net1,c@net1,d@net2");

  EXPECT_THAT(shown(now), ElementsAre("+net1 ns1/b", "+net2 ns1/d"));
  EXPECT_THAT(shown(now.rejected),
              ElementsAre("eth0 ns1/a: it is the interface of the cluster network",
                          "net1 ns1/c: the annotation names this interface twice"));
}

// 05, 4: row 32
TEST_F(DifferenceTest, RefusesForeignNamespacesButKeepsWhatIsThere) {
  add(Source::kAnnotation, "other/a", "net1");
  rules_.may_select = [](std::string_view ns) { return ns == "ns1"; };

  const auto now = of("other/a@net1,other/b@net2,c@net3");

  EXPECT_THAT(shown(now), ElementsAre("+net3 ns1/c"));
  EXPECT_THAT(shown(now.rejected), ElementsAre(HasSubstr("net2 other/b: namespace isolation")));
}

// 05, 4: row 33
TEST_F(DifferenceTest, RefusesDefaultRoutesOfNewElements) {
  add(Source::kAnnotation, "ns1/a", "net1").attributes =
      json::parse_object(R"({"default-route":["10.0.0.1"]})").value();

  const auto now = of(R"([{"name":"a","interface":"net1","default-route":["10.0.0.1"]},
             {"name":"b","default-route":["10.0.0.1"]}])");

  EXPECT_THAT(shown(now), IsEmpty());
  EXPECT_THAT(shown(now.rejected), ElementsAre(" ns1/b: default-route cannot be changed in a "
                                               "running pod"));
}

TEST_F(DifferenceTest, RefusesANameThatStaysWithAnotherNetwork) {
  add(Source::kAnnotation, "ns1/a", "net1").auto_name = true;
  add(Source::kDefaultNetworks, "d", "net2");

  const auto now = of("a,b@net1,c@net2");

  EXPECT_THAT(shown(now), IsEmpty());
  EXPECT_THAT(now.rejected, testing::SizeIs(2));
}

// 05, 4: row 64
TEST_F(DifferenceTest, AdoptsWhatAClientPluggedIn) {
  add(Source::kDelegateApi, "a-cni", "net1").cni_name = "a-cni";
  rules_.cni_names = {{"ns1/a", "a-cni"}};

  ASSERT_THAT(of("a@net1").adopted, testing::SizeIs(1));
  EXPECT_EQ(of("a@net1").adopted.front().ifname, "net1");
  EXPECT_EQ(of("a@net1").adopted.front().network, "ns1/a");
  EXPECT_THAT(shown(of("a@net1")), IsEmpty());
  EXPECT_FALSE(of("a@net1").is_empty());
  EXPECT_THAT(shown(of("b@net1")), IsEmpty());
  EXPECT_THAT(of("b@net1").rejected, testing::SizeIs(1));
}

// 05, 4: row 44
TEST_F(DifferenceTest, CountsAllInterfacesOfAResultAsUsed) {
  add(Source::kAnnotation, "ns1/a", "blue").result =
      json::parse(R"({"cniVersion":"1.0.0","interfaces":[{"name":"blue","sandbox":"/ns"},
                      {"name":"net1","sandbox":"/ns"}]})")
          .value();

  EXPECT_THAT(shown(of("a@blue,b")), ElementsAre("+net2 ns1/b"));
}

// Whatever came before, applying the difference leads to what the annotation says, and then there
// is none.
TEST_F(DifferenceTest, IsNoneOnceItWasApplied) {
  const std::vector<std::string> edits = {"a,b", "b,a,a",  "c@net1,b", "b@x,b,b",
                                          "",    "a@net2", "a,c@net1", "a@net3,a@net2"};
  for (const std::string& edit : edits) {
    const Difference now = of(edit);
    for (const Removal& one : now.removals) {
      std::erase_if(record_.attachments, [&](const auto& it) { return it.ifname == one.ifname; });
      rules_.links.erase(one.ifname);
    }
    for (const Addition& one : now.additions) {
      ASSERT_EQ(record_.find(one.ifname), nullptr) << edit;
      add(Source::kHotplug, network_of(one.element), one.ifname);
    }
    EXPECT_THAT(shown(of(edit)), IsEmpty()) << edit;
    EXPECT_EQ(record_.attachments.size(), 1 + elements(edit).size()) << edit;
  }
}

}  // namespace
}  // namespace mnet::hotplug
