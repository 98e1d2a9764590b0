#include "model/network_status.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace
}  // namespace mnet::model
