// ADD from a definition's text to a plugin's stdin and to the records: what was resolved is what is
// run and remembered (02, 3 and 4).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "attach/node_fixture.h"
#include "attach/pod_fixture.h"
#include "base/text.h"
#include "cni/error.h"
#include "json/json.h"

namespace mnet::attach {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class AddResolvedTest : public PodTest {
 protected:
  void define_text(const std::string& name, const std::string& text,
                   const std::string& resource_name = {}) {
    node_.source.add_network("ns1", name, text, resource_name);
  }
  static std::string member(const json::Object& object, std::string_view key) {
    const json::Value* value = object.find(key);
    return value == nullptr ? "absent" : json::dump(*value);
  }

  const std::string conf_ = delegates({"a"});
};

// 02, 12: row 53
TEST_F(AddResolvedTest, GivesThePluginTheDefinitionsName) {
  define_text("x", R"({"cniVersion":"1.0.0","type":"t"})");
  add_pod("x");

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "ADD x net1"));
  EXPECT_EQ(member(node_.plugins.config(1), "name"), "\"x\"");
}

// 02, 12: rows 55, 78
TEST_F(AddResolvedTest, GivesThePluginItsDeviceAndEveryNumberAsItWas) {
  define_text("x", R"({"cniVersion":"1.0.0","type":"t","i":9223372036854775807})", "r/vf");
  node_.devices.ids["r/vf"] = {"0000:00:00.1", "0000:00:00.2"};
  add_pod("x");

  ASSERT_TRUE(add(request(conf_)));

  const json::Object config = node_.plugins.config(1);
  EXPECT_EQ(member(config, "i"), "9223372036854775807");
  EXPECT_EQ(member(config, "deviceID"), "\"0000:00:00.1\"");
  EXPECT_EQ(member(config, "pciBusID"), "\"0000:00:00.1\"");
}

// 02, 12: row 158
TEST_F(AddResolvedTest, StoresATextThatNeedsNoChangeByteForByte) {
  const std::string text =
      "\n { \"name\" :\"n\",\t\"cniVersion\": \"1.0.0\", \"type\":\"t\" , \"x\": 1.50 }\n\n";
  define_text("x", text);
  add_pod("x");

  ASSERT_TRUE(add(request(conf_)));

  const json::Object scratch = *node_.records.scratch.at("c1")[1].as_object();
  EXPECT_EQ(*scratch.find("Bytes")->as_string(), to_base64(text));
  EXPECT_EQ(node_.records.results.at("n-c1-net1").config, text);
}

// 02, 12: row 48; pain 30
TEST_F(AddResolvedTest, RunsNothingIfOneNetworkCannotBeHad) {
  define("x");
  add_pod("x,gone");

  auto result = add(request(conf_));

  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(),
              AllOf(StartsWith("Multus: [ns1/p1/u1]: error loading k8s delegates k8s args: "),
                    HasSubstr("cannot find a network-attachment-definition (gone) in namespace "
                              "(ns1)")));
  EXPECT_THAT(node_.calls, IsEmpty());
  EXPECT_THAT(node_.source.events, ElementsAre(StartsWith("Warning NoNetworkFound: ")));
}

// 02, 12: row 80; pain 25
TEST_F(AddResolvedTest, RunsNothingIfADeviceCannotBeHad) {
  define_text("x", R"({"cniVersion":"1.0.0","type":"t"})", "r/vf");
  node_.devices.known = {"r/vf"};
  add_pod("x");

  auto result = add(request(conf_));

  ASSERT_FALSE(result);
  EXPECT_THAT(result.error(), HasCode(cni::Code::kTryAgainLater));
  EXPECT_THAT(result.error().origin()->msg,
              AllOf(StartsWith("Multus: [ns1/p1/u1]: "), HasSubstr("r/vf")));
  EXPECT_THAT(node_.calls, IsEmpty());
}

// Pods that share a claim are given the same device.
TEST_F(AddResolvedTest, SaysWhichPodHoldsTheDeviceThatAPluginRefuses) {
  define_text("x", R"({"cniVersion":"1.0.0","type":"t"})", "r/vf");
  node_.devices.ids["r/vf"] = {"0000:00:00.1"};
  add_pod("x");
  ASSERT_TRUE(add(request(conf_)));
  node_.plugins.errors.emplace(
      "ADD x", Error::from_object(Errc::kPlugin, {101, "no such device", "link not found"}));
  RequestText second = request(conf_);
  second.container_id = "c2";
  second.netns = "/ns2";
  node_.links.namespaces["/ns2"] = {};

  auto refused = add(std::move(second));

  ASSERT_FALSE(refused);
  ASSERT_NE(refused.error().origin(), nullptr) << refused.error().text();
  EXPECT_EQ(refused.error().origin()->code, 101);
  EXPECT_EQ(refused.error().origin()->details, "link not found");
  EXPECT_THAT(refused.error().origin()->msg,
              HasSubstr("device 0000:00:00.1, which pod ns1/p1 holds (container c1): no such "
                        "device"));
}

// 02, 12: row 80
TEST_F(AddResolvedTest, RunsANetworkOfABridgeMarkerWithoutADevice) {
  define_text("x", R"({"cniVersion":"1.0.0","type":"t"})", "bridge.network/br1");
  add_pod("x");

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_EQ(member(node_.plugins.config(1), "deviceID"), "absent");
  EXPECT_TRUE(logged("[error] resource bridge.network/br1"));
}

// 02, 12: row 96
TEST_F(AddResolvedTest, RunsNothingForTwoGatewaysOfOneFamily) {
  define("x");
  add_pod(
      R"([{"name":"x","default-route":["10.1.1.1"]},{"name":"x","default-route":["10.2.2.1"]}])");

  EXPECT_THAT(add(request(conf_)).error().text(), HasSubstr("does not support ECMP"));
  EXPECT_THAT(node_.calls, IsEmpty());
}

// A definition that changes or goes between ADD and DEL is none of DEL's business.
TEST_F(AddResolvedTest, DeletesWhatWasAddedWhateverBecameOfTheDefinition) {
  define_text("x", R"({"cniVersion":"1.0.0","name":"n","type":"t","v":1})");
  add_pod(R"([{"name":"x","cni-args":{"k":"v"}}])");
  ASSERT_TRUE(add(request(conf_)));
  const json::Object added = node_.plugins.config(1);
  define_text("x", R"({"cniVersion":"1.0.0","name":"other","type":"u","v":2})");
  forget();

  ASSERT_TRUE(del(request(conf_)));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL n net1", "DEL a eth0"));
  EXPECT_EQ(member(node_.plugins.config(0), "v"), member(added, "v"));
  EXPECT_EQ(member(node_.plugins.config(0), "args"), R"({"cni":{"k":"v"}})");

  node_.source.networks.clear();
  ASSERT_TRUE(del(request(conf_)));
}

}  // namespace
}  // namespace mnet::attach
