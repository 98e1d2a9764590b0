#include "model/networks_annotation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "model/selection_element.h"

namespace mnet::model {
namespace {

using testing::HasSubstr;

// "ns/name@ifname" of each element, or the error.
std::vector<std::string> networks(std::string_view text) {
  auto elements = parse_networks_annotation(text, "pod-ns");
  if (!elements) return {"error: " + elements.error().text()};
  std::vector<std::string> out;
  for (const NetworkSelectionElement& e : *elements) {
    out.push_back(e.ns + "/" + e.name + (e.ifname.empty() ? "" : "@" + e.ifname));
  }
  return out;
}

using Networks = std::vector<std::string>;

std::string refusal(std::string_view text) {
  const Networks out = networks(text);
  return out.size() == 1 && out[0].starts_with("error: ") ? out[0] : "accepted";
}

TEST(CommaFormat, TakesNamesNamespacesAndInterfacesWithBlanksAround) {
  EXPECT_EQ(networks("net1,net2"), (Networks{"pod-ns/net1", "pod-ns/net2"}));  // 02, 12 row 20
  EXPECT_EQ(networks(" ns1/net1 @ if1 , net2 "), (Networks{"ns1/net1@if1", "pod-ns/net2"}));  // 21
  EXPECT_EQ(networks("net1@abcdefghijklmno"), (Networks{"pod-ns/net1@abcdefghijklmno"}));     // 25
  EXPECT_EQ(networks("net1@my_IF.0"), (Networks{"pod-ns/net1@my_IF.0"}));                     // 26
  EXPECT_EQ(networks("/net1"), (Networks{"pod-ns/net1"}));                                    // 28
  EXPECT_EQ(networks("net1@"), (Networks{"pod-ns/net1"}));
  EXPECT_EQ(networks("5"), (Networks{"pod-ns/5"}));  // 154
}

TEST(CommaFormat, RefusesWhatIsNoItemAndSaysWhichPart) {
  EXPECT_THAT(refusal("a/b/c"), HasSubstr("failed at '/'"));  // 22
  EXPECT_THAT(refusal("a@b@c"), HasSubstr("failed at '@'"));
  EXPECT_THAT(refusal("root@ip/root@x"), HasSubstr("mismatch @ 'root@ip'"));  // 23
  for (const char* bad : {"Net1", "net_1", "net.1", "-net", "net-"}) {
    EXPECT_THAT(refusal(bad), HasSubstr(std::string("mismatch @ '") + bad + "'"));
  }
  EXPECT_THAT(refusal("net1@myIfc Name"), HasSubstr("Failed to parse interface name"));  // 24
  EXPECT_THAT(refusal("net1@abcdefghijklmnop"), HasSubstr("Failed to parse interface name"));
  // The original takes the no-break space off.
  EXPECT_THAT(refusal("net1@\xc2\xa0x"), HasSubstr("Failed to parse interface name"));
  for (const char* nameless : {"net1,", ",", "ns/", "@x", "a,,b"}) {  // 27
    EXPECT_THAT(refusal(nameless), HasSubstr("empty name")) << nameless;
  }
}

TEST(NetworksAnnotation, IsNoWishWhenEmptyOrBlank) {  // 29, 32
  EXPECT_EQ(networks(""), Networks{});
  EXPECT_EQ(networks(" \n\t "), Networks{});
  EXPECT_EQ(networks("[]"), Networks{});
}

TEST(NetworksAnnotation, RefusesOneThatIsTooLarge) {
  EXPECT_THAT(refusal(std::string(kMaxAnnotation + 1, 'a')), HasSubstr("more than 262144"));
}

TEST(NetworksAnnotation, CountsBeforeItReads) {
  const auto repeated = [](const std::string& item, std::size_t count) {
    std::vector<std::string> items(count, item);
    return join(items, ",");
  };

  EXPECT_EQ(networks(repeated("a", kMaxNetworks)).size(), kMaxNetworks);
  // The first element is wrong, too, but nothing was read yet.
  EXPECT_THAT(refusal("B," + repeated("a", kMaxNetworks)), HasSubstr("asks for 1001 networks"));
  EXPECT_EQ(networks("[" + repeated(R"({"name":"a,b"})", kMaxNetworks) + "]").size(), kMaxNetworks);
  EXPECT_THAT(refusal("[0," + repeated("{}", kMaxNetworks)), HasSubstr("asks for 1001 networks"));
  EXPECT_THAT(refusal(R"([{"cni-args":{"a":[)" + repeated("0", kMaxValues) + "]}}]"),
              HasSubstr("10004 values, more than 10000"));
  EXPECT_THAT(parse_default_network_annotation(repeated("a", 5000), "ns").error().text(),
              HasSubstr("more than one default network"));
}

// Texts of pieces that make a counter stumble, with a fixed seed: what the parser accepts, the
// counter counts as the parser does.
TEST(NetworksAnnotation, CountsWhatItReads) {
  constexpr std::array kPieces = {R"({"name":"a"})",
                                  R"({"name":"a,b","mac":""})",
                                  R"({"a":[1,{"b":[2,3]},[]]})",
                                  R"({"\"":"\\"})",
                                  R"({"x":"]}[{,\\\",\""})",
                                  "{}",
                                  " ",
                                  "\n\t",
                                  ",",
                                  "[",
                                  "]",
                                  "a",
                                  "ns/a@b",
                                  "\"",
                                  "\\",
                                  R"({"cni-args":{"a":[0,0],"b":{}}})"};
  std::minstd_rand random(16);  // NOLINT(bugprone-random-generator-seed): the same each time
  std::size_t accepted = 0;
  for (int i = 0; i < 10'000; ++i) {
    const bool is_list = random() % 2 == 0;
    std::string text = is_list ? "[" : "";
    for (std::size_t left = random() % 6; left > 0; --left) {
      text += kPieces.at(random() % kPieces.size());
      if (left > 1 && random() % 3 != 0) text += ",";
    }
    if (is_list) text += "]";
    const auto elements = parse_networks_annotation(text, "ns");
    if (!elements) continue;
    ++accepted;
    ASSERT_EQ(count_elements(text), elements->size()) << text;
  }
  EXPECT_GT(accepted, 400u);
}

TEST(JsonFormat, RefusesWhatIsNoListOfObjects) {  // 30, 31, 33, 43
  for (const char* bad :
       {"[adsf]", R"({"name":"n"})", "\"n\"", "[null]", "[5]", R"([{"name":5}])",
        R"([{"name":"n","ips":"10.0.0.1"}])", R"([{"name":"n","default-route":["x"]}])",
        R"([{"name":"n","default-route":[""]}])", R"([{"name":"n","default-route":[null]}])",
        R"([{"name":"n","cni-args":[]}])", R"([{"name":"n"}] x)"}) {
    EXPECT_THAT(refusal(bad), HasSubstr("Annotation JSON format")) << bad;
  }
}

// Go keeps a value when null follows, reads two objects into one, and takes the last of two
// spellings: an admission webhook could see another request than we carry out.
TEST(JsonFormat, RefusesARepeatedKey) {
  for (const char* bad :
       {R"([{"name":"a","name":null}])", R"([{"name":"a","mac":"c2:11:22:33:44:66","mac":null}])",
        R"([{"name":"a","bandwidth":{"ingressRate":1,"ingressBurst":1},"bandwidth":{}}])"}) {
    EXPECT_THAT(refusal(bad), HasSubstr("is repeated")) << bad;
  }
  EXPECT_THAT(refusal(R"([{},{"bandwidth":{"x":{},"x":{}}}])"),
              HasSubstr(R"([1].bandwidth: the key "x" is repeated)"));
}

TEST(JsonFormat, RefusesAKeyThatMeansSomethingInTwoSpellings) {
  EXPECT_THAT(refusal(R"([{},{"name":"a","Name":"b"}])"),
              HasSubstr(R"([1]: the key "name" is there in two spellings)"));
  EXPECT_THAT(refusal("[{\"name\":\"a\",\"namespace\":\"x\",\"name\xc5\xbfpace\":\"y\"}]"),
              HasSubstr(R"([0]: the key "namespace" is)"));
  EXPECT_THAT(refusal(R"([{"name":"a","bandwidth":{"ingressRate":1,"IngressRate":2}}])"),
              HasSubstr(R"([0].bandwidth: the key "ingressRate" is)"));
  EXPECT_THAT(refusal(R"([{"name":"a","portMappings":[{},{"hostPort":1,"hostport":2}]}])"),
              HasSubstr(R"([0].portMappings[1]: the key "hostPort" is)"));
}

// As the original does.
TEST(JsonFormat, TakesOtherKeysInAnySpelling) {
  EXPECT_EQ(networks(R"([{"name":"x","name":"a","cni-args":{"k":1,"K":2}},{"NAME":"b"}])"),
            (Networks{"pod-ns/a", "pod-ns/b"}));
  EXPECT_EQ(networks(R"([{"name":"a","note":1,"Note":2,"portMappings":[{"x":1,"X":2}]}])"),
            (Networks{"pod-ns/a"}));
}

TEST(JsonFormat, ChecksAddresses) {  // 34, 35
  EXPECT_THAT(refusal(R"([{"name":"n","ips":["10.0.0.300"]}])"),
              HasSubstr("failed to parse IP address \"10.0.0.300\""));
  EXPECT_THAT(refusal(R"([{"name":"n","ips":["10.0.0.1/33"]}])"),
              HasSubstr("failed to parse CIDR \"10.0.0.1/33\""));
  // Of a pod with several networks people must know which one, and which field.
  EXPECT_THAT(refusal(R"([{"name":"a"},{"name":"b","ips":["10.0.0.1","x"]}])"),
              HasSubstr("[1].ips[1] of network \"b\": failed to parse IP address \"x\""));
  EXPECT_THAT(refusal(R"([{"name":"n","mac":"zz"}])"),
              HasSubstr("[0].mac of network \"n\": failed to mac"));
  EXPECT_THAT(refusal(R"([{"name":"n","infiniband-guid":"24:8a"}])"),
              HasSubstr("failed to validate infiniband GUID"));
  for (const char* good : {"c2-11-22-33-44-66", "c211.2233.4466", "02:00:5e:10:00:00:00:01"}) {
    EXPECT_TRUE(is_hardware_address(good)) << good;
  }
  for (const char* bad : {"", "c2:11:22:33:44", "c2:11-22:33:44:66",
                          "c2:11:22:33:44:66:", "c2112:2334:466", "c211.2233.446"}) {
    EXPECT_FALSE(is_hardware_address(bad)) << bad;
  }
}

TEST(JsonFormat, KeepsEveryWish) {  // 36, 37, 40, 41, 42
  const auto elements =
      parse_networks_annotation(
          R"([{"name":"my.net","interfaceRequest":"x1","ips":[],"mac":"c2:11:22:33:44:66",
               "infiniband-guid":"24:8a:07:03:00:8d:ae:2e","deviceID":"d","portMappings":[],
               "bandwidth":{"ingressRate":5},"cni-args":{"a":1},"default-route":["10.1.1.1","fc00:0::1"],
               "ipRequest":"1.2.3.4","ipam-claim-reference":"c"},
              {"name":"b","interface":"i","interfaceRequest":"x1","cni-args":null,"default-route":[]}])",
          "ns")
          .value();

  const NetworkSelectionElement& first = elements[0];
  EXPECT_EQ(elements[0].name, "my.net");
  EXPECT_EQ(first.ifname, "x1");
  EXPECT_EQ(first.ips, std::vector<std::string>{});
  EXPECT_EQ(first.device_id, "d");
  ASSERT_TRUE(first.port_mappings.has_value());
  EXPECT_TRUE(first.port_mappings->empty());
  EXPECT_EQ(first.bandwidth->ingress_rate, 5);
  EXPECT_EQ(first.gateways, (std::vector<std::string>{"10.1.1.1", "fc00::1"}));
  EXPECT_TRUE(elements[0].cni_args.has_value());
  EXPECT_EQ(elements[1].ifname, "i");
  EXPECT_EQ(elements[1].ips, std::nullopt);
  EXPECT_EQ(elements[1].gateways, std::vector<std::string>{});
  EXPECT_FALSE(elements[1].cni_args.has_value());
}

TEST(DefaultNetworkAnnotation, IsExactlyOneElement) {  // 44
  const auto read = [](std::string_view text) {
    auto element = parse_default_network_annotation(text, "kube-system");
    return element ? element->ns + "/" + element->name : "error: " + element.error().text();
  };
  EXPECT_EQ(read("calico"), "kube-system/calico");
  EXPECT_EQ(read("other/calico"), "other/calico");
  EXPECT_THAT(read("a,b"), HasSubstr("more than one default network is specified"));
  EXPECT_THAT(read(""), HasSubstr("does not have \"network\" as key"));
  EXPECT_THAT(read("  "), HasSubstr("error: "));
  EXPECT_THAT(read("[]"), HasSubstr("error: "));
}

}  // namespace
}  // namespace mnet::model
