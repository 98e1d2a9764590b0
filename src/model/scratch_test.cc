#include "model/scratch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "cni/conf.h"
#include "json/json.h"
#include "model/delegate.h"
#include "model/selection_element.h"

namespace mnet::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What upstream's main wrote for a list from a file, a conf and a list from definitions.
json::Array recorded() {
  const std::string text = read(MNET_TEST_DATA "/recordings/state-after-add/scratch");
  return *json::parse(text).value().as_array();
}

std::vector<std::string> keys(const json::Value& element) {
  std::vector<std::string> names;
  for (const auto& [key, value] : *element.as_object()) names.push_back(key);
  return names;
}

json::Array array(const std::string& text) { return *json::parse(text).value().as_array(); }

std::string element_with(const std::string& config, const std::string& more = "") {
  return cat(R"([{"Conf":{"ipam":{}},"ConfList":{},"Name":"x/y",)", more, R"("Bytes":")",
             to_base64(config), R"("}])");
}

// 02, 12: row 120
TEST(Scratch, ReadsWhatTheOriginalWrote) {
  auto delegates = decode_scratch(recorded());

  ASSERT_TRUE(delegates) << delegates.error().text();
  ASSERT_THAT(*delegates, SizeIs(3));
  EXPECT_TRUE((*delegates)[0].is_master);
  EXPECT_TRUE((*delegates)[0].is_list);
  EXPECT_EQ((*delegates)[0].list->plugins[0].type, "bridge");
  EXPECT_EQ((*delegates)[1].name, "default/mac1");
  EXPECT_EQ((*delegates)[1].cni_name, "mac1");
  EXPECT_FALSE((*delegates)[1].is_list);
  EXPECT_FALSE((*delegates)[1].is_master);
  EXPECT_EQ(interface_name((*delegates)[2], 2, "eth0"), "net2");
}

// 02, 12: row 121
TEST(Scratch, WritesWhatTheOriginalWouldWrite) {
  const json::Array original = recorded();
  auto delegates = decode_scratch(original);
  ASSERT_TRUE(delegates);
  (*delegates)[0].from_list_file = true;

  const json::Array ours = encode_scratch(*delegates);

  EXPECT_EQ(json::dump(ours), json::dump(original));
}

TEST(Scratch, KeepsWishesAndTheirOrder) {
  auto delegate = parse_delegate(R"({"name":"n","type":"t"})");
  ASSERT_TRUE(delegate);
  delegate->name = "ns/n";
  delegate->selection.ifname = "x0";
  delegate->selection.mac = "aa:bb:cc:dd:ee:ff";
  delegate->selection.infiniband_guid = "24:8a:07:03:00:8d:ae:2e";
  delegate->selection.ips = {"10.0.0.1/24"};
  delegate->selection.gateways.emplace();
  delegate->selection.device_id = "0000:00:01.0";
  delegate->selection.resource_name = "vendor/dev";
  delegate->selection.port_mappings = {{80, 8080, "tcp", ""}};
  delegate->selection.bandwidth = Bandwidth{1, 2, 3, 4};
  delegate->loses_v4_default = true;
  delegate->removed = true;

  std::vector<Delegate> one;
  one.push_back(*std::move(delegate));
  const json::Array elements = encode_scratch(one);

  EXPECT_THAT(keys(elements[0]),
              ElementsAre("Conf", "ConfList", "Name", "ifnameRequest", "macRequest",
                          "infinibandGUIDRequest", "ipRequest", "default-route",
                          "IsFilterV4Gateway", "IsFilterV6Gateway", "deviceID", "resourceName",
                          "Bytes", "portMappingsRequest", "bandwidthRequest", "removed"));
  auto back = decode_scratch(elements);
  ASSERT_TRUE(back);
  const Delegate& read_back = back->front();
  EXPECT_EQ(json::dump(encode_scratch(*back)), json::dump(elements));
  EXPECT_TRUE(read_back.removed);
  EXPECT_THAT(*read_back.selection.gateways, IsEmpty());
  EXPECT_EQ(read_back.selection.bandwidth->egress_burst, 4);
}

TEST(Scratch, ReducesAConfToItsKnownMembersByKey) {
  auto delegate = parse_delegate(
      R"({"type":"t","name":"n","x":1,"ipam":{"type":"i","y":2},"cniVersion":"1.0.0",)"
      R"("dns":{"search":["s"],"domain":"d"},"capabilities":{"b":true,"a":false}})");
  std::vector<Delegate> one;
  one.push_back(*std::move(delegate));

  const json::Array elements = encode_scratch(one);

  EXPECT_EQ(json::dump(*elements[0].as_object()->find("Conf")),
            R"({"capabilities":{"a":false,"b":true},"cniVersion":"1.0.0",)"
            R"("dns":{"domain":"d","search":["s"]},"ipam":{"type":"i"},"name":"n","type":"t"})");
  EXPECT_EQ(json::dump(*elements[0].as_object()->find("ConfList")), "{}");
}

// 02, 12: row 151; 02-F55
TEST(Scratch, TakesTheCompleteListOfV430) {
  const std::string text = cat(
      R"([{"Conf":{"ipam":{}},"ConfList":{"cniVersion":"0.3.1","name":"l","plugins":[{"ipam":{},"type":"calico"}]},)",
      R"("CNINetworkConfigList":{"Name":"l","CNIVersion":"0.3.1","DisableCheck":false,"DisableGC":false,)",
      R"("LoadOnlyInlinedPlugins":false,"Plugins":[{"Network":{"type":"calico"},"Bytes":")",
      to_base64(R"({"type":"calico","kubernetes":{"kubeconfig":"/k"}})"),
      R"("},{"Network":{"type":"tuning"},"Bytes":")", to_base64(R"({"type":"tuning","mtu":1400})"),
      R"("}],"Bytes":")",
      to_base64(R"({"name":"l","cniVersion":"0.3.1","extra":7,"plugins":[{"type":"calico"}]})"),
      R"("},"Name":"l","IsFilterV4Gateway":false,"IsFilterV6Gateway":false,"Bytes":")",
      to_base64(R"({"cniVersion":"0.3.1","name":"l","plugins":[{"ipam":{},"type":"calico"}]})"),
      R"("}])");

  auto delegates = decode_scratch(array(text));

  ASSERT_TRUE(delegates) << delegates.error().text();
  const cni::ConfList& list = *delegates->front().list;
  ASSERT_THAT(list.plugins, SizeIs(2));
  EXPECT_THAT(json::dump(list.plugins[0].object), HasSubstr("/k"));
  EXPECT_THAT(json::dump(list.plugins[1].object), HasSubstr("1400"));
  EXPECT_EQ(*list.object.find("extra"), json::Value(7));
}

TEST(Scratch, UsesBytesWhereV430LeftTheListEmpty) {
  const std::string kept = R"("CNINetworkConfigList":{"Name":"","Plugins":null,"Bytes":null},)";
  auto delegates = decode_scratch(array(element_with(R"({"name":"n","type":"t"})", kept)));
  ASSERT_TRUE(delegates);
  EXPECT_EQ(delegates->front().types.front(), "t");
}

TEST(Scratch, IgnoresMembersItCannotUse) {
  auto delegates = decode_scratch(array(element_with(
      R"({"name":"n","type":"t"})",
      R"("macRequest":5,"ipRequest":"x","portMappingsRequest":{},"IsFilterV4Gateway":"no","new":1,)")));
  ASSERT_TRUE(delegates);
  EXPECT_EQ(delegates->front().selection.mac, "");
  EXPECT_FALSE(delegates->front().selection.ips);
  EXPECT_FALSE(delegates->front().selection.port_mappings);
}

// 02, 12: row 123
TEST(Scratch, CallsDamagedWhatCannotBeRun) {
  for (
      const std::string text :
      {"[]", "[null]", "[5]", "[{}]", R"([{"Bytes":5}])", R"([{"Bytes":"%%"}])",
       R"([{"Bytes":"e30="}])", R"([{"Bytes":"bnVsbA=="}])",
       R"([{"CNINetworkConfigList":{"Plugins":[{"Bytes":"e30="}],"Bytes":"x"},"Bytes":"e30="}])"}) {
    auto delegates = decode_scratch(array(text));
    ASSERT_FALSE(delegates) << text;
    EXPECT_EQ(delegates.error().code(), Errc::kProtocol) << text;
  }
}

}  // namespace
}  // namespace mnet::model
