#include "model/network_status.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cni/result.h"
#include "json/json.h"

namespace mnet::model {
namespace {

// The statuses as one line of JSON.
std::string statuses(std::string_view result, bool is_master) {
  const auto read = cni::read_result(json::parse(result).value()).value();
  const auto made = network_statuses(read, "ns/n", is_master, std::nullopt).value();
  json::Array out;
  for (const NetworkStatus& status : made) out.emplace_back(to_json(status));
  return json::dump(out);
}

TEST(NetworkStatus, GivesTheDefaultMarkToTheInterfaceWithTheGateway) {  // 02, 12 row 107
  EXPECT_EQ(
      statuses(
          R"({"cniVersion":"1.0.0","interfaces":[{"name":"veth"},{"name":"eth0","sandbox":"/n"},
                         {"name":"eth1","sandbox":"/n"}],
                         "ips":[{"address":"10.0.0.2/24","interface":1},
                                {"address":"10.1.0.2/24","interface":2,"gateway":"10.1.0.1"}]})",
          true),
      R"([{"name":"ns/n","interface":"eth0","ips":["10.0.0.2"],"dns":{}},)"
      R"({"name":"ns/n","interface":"eth1","ips":["10.1.0.2"],"default":true,"dns":{}}])");
}

TEST(NetworkStatus, FallsBackToTheFirstSandboxInterfaceWhenTheGatewayIsOnTheHost) {  // 02-F08
  EXPECT_EQ(
      statuses(
          R"({"cniVersion":"1.0.0","interfaces":[{"name":"veth"},{"name":"eth0","sandbox":"/n"}],
                         "ips":[{"address":"10.0.0.1/24","interface":0,"gateway":"10.0.0.254"}]})",
          true),
      R"([{"name":"ns/n","interface":"eth0","default":true,"dns":{}}])");
}

TEST(NetworkStatus, PutsAddressesWithoutIndexAtTheLastSandboxInterface) {  // 108
  EXPECT_EQ(
      statuses(
          R"({"cniVersion":"1.0.0","interfaces":[{"name":"a","sandbox":"/n"},{"name":"b","sandbox":"/n"}],
                         "ips":[{"address":"10.0.0.2/24"}]})",
          false),
      R"([{"name":"ns/n","interface":"a","dns":{}},{"name":"ns/n","interface":"b","ips":["10.0.0.2"],"dns":{}}])");
}

TEST(NetworkStatus, NamesNoInterfaceWhereTheResultHasNone) {  // 109
  EXPECT_EQ(statuses(R"({"cniVersion":"0.2.0","ip4":{"ip":"10.0.0.2/24"}})", true),
            R"([{"name":"ns/n","ips":["10.0.0.2"],"default":true,"dns":{}}])");
}

TEST(NetworkStatus, ListsGatewaysOfDefaultRoutesOnly) {  // 98, 110
  EXPECT_EQ(statuses(R"({"cniVersion":"1.0.0","interfaces":[{"name":"a","sandbox":"/n"}],
                         "routes":[{"dst":"0.0.0.0/1","gw":"10.0.0.9"},{"dst":"0.0.0.0/0"},{"dst":"::/0","gw":"fd00:0::1"}]})",
                     false),
            R"([{"name":"ns/n","interface":"a","dns":{},"gateway":["fd00::1"]}])");
}

TEST(NetworkStatus, IsAbsentForAnEmptyResult) {  // 112
  EXPECT_EQ(statuses(R"({"cniVersion":"1.0.0"})", true), "[]");
}

// A result with that many interfaces, and that much DNS for each of them.
std::vector<NetworkStatus> many_statuses(int interfaces, std::size_t dns) {
  cni::NetResult result;
  result.version = "1.0.0";
  result.dns.domain = std::string(dns, 'd');
  for (int i = 0; i < interfaces; ++i) {
    cni::Interface one;
    one.name = cat("e", i);
    one.sandbox = "/n";
    result.interfaces.push_back(one);
  }
  return network_statuses(result, "ns/n", false, std::nullopt).value();
}

json::Object entry_in(const std::string& text, std::size_t index) {
  return *(*json::parse(text).value().as_array())[index].as_object();
}

// 2,000 times 100 kB would be 200 MB.
TEST(NetworkStatus, KeepsOnceWhatAllEntriesOfANetworkShare) {
  const auto all = many_statuses(2000, 100'000);

  ASSERT_EQ(all.size(), 2000u);
  EXPECT_EQ(all.front().shared, all.back().shared);
}

TEST(StatusText, LacksWhatRepeatsOnceAnEntryDoesNotFit) {
  const StatusText status = status_text(many_statuses(1000, 100'000));

  const std::string text = status.text();
  EXPECT_LE(text.size(), kMaxStatusText);
  EXPECT_EQ(json::dump(*entry_in(text, 0).find("dns")).size(), 100'000u + 13);
  EXPECT_EQ(json::dump(entry_in(text, 1)), R"({"name":"ns/n","interface":"e1","dns":{}})");
  EXPECT_EQ(entry_in(text, 999).size(), 3u);
  EXPECT_EQ(status.shortcomings(),
            "the network status would exceed 196608 bytes: 999 entries lack dns, device-info and "
            "gateway, 0 are left out");
}

TEST(StatusText, LeavesOutEntriesThatDoNotFitEvenSo) {
  std::vector<NetworkStatus> statuses(3);
  statuses[0].name = "a";
  statuses[1].mac = std::string(kMaxStatusText, 'm');
  statuses[2].name = "c";

  const StatusText status = status_text(statuses);

  EXPECT_EQ(json::dump(json::parse(status.text()).value()),
            R"([{"name":"a","dns":{}},{"name":"c","dns":{}}])");
  EXPECT_EQ(status.shortcomings(),
            "the network status would exceed 196608 bytes: 1 entries lack dns, device-info and "
            "gateway, 1 are left out");
  EXPECT_EQ(status_text({statuses[0]}).shortcomings(), "");
}

TEST(StatusText, IsFullToTheLastByte) {
  NetworkStatus one;
  const std::size_t around = status_text({one}).text().size();
  one.name = std::string(kMaxStatusText - around - 1, 'n');

  EXPECT_EQ(status_text({one}).shortcomings(), "");
  one.name += "nn";
  EXPECT_NE(status_text({one}).shortcomings(), "");
}

}  // namespace
}  // namespace mnet::model
