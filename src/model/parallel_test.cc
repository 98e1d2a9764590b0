#include "model/parallel.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "model/attachment.h"
#include "model/delegate.h"
#include "model/netconf.h"

namespace mnet::model {
namespace {

AttachmentPtr attachment(const std::string& config, const std::string& ifname) {
  Attachment made;
  made.delegate = parse_delegate(config).value();
  made.ifname = ifname;
  return std::make_shared<const Attachment>(std::move(made));
}

// The batches of a master and these, as `0 | 1 2 | 3`.
std::string batches(const std::vector<std::string>& configs,
                    ParallelAttach mode = ParallelAttach::kSafe) {
  std::vector<AttachmentPtr> attachments = {attachment(R"({"name":"m","type":"bridge"})", "eth0")};
  for (const std::string& config : configs) {
    attachments.push_back(attachment(config, cat("net", attachments.size())));
  }
  std::vector<std::string> parts;
  for (const Batch& batch : batches_of(attachments, mode)) {
    std::vector<std::string> numbers;
    for (std::size_t i = batch.first; i < batch.end; ++i) numbers.push_back(cat(i));
    parts.push_back(join(numbers, " "));
  }
  return join(parts, " | ");
}

std::string conf(const std::string& name, const std::string& type, const std::string& more = {}) {
  return cat(R"({"name":")", name, R"(","type":")", type, "\"", more, "}");
}

TEST(Batches, HoldTheMasterAloneAndTheOthersTogether) {
  EXPECT_EQ(batches({}), "0");
  EXPECT_EQ(batches({conf("a", "macvlan")}), "0 | 1");
  EXPECT_EQ(batches({conf("a", "macvlan"), conf("b", "sriov"), conf("c", "bridge")}), "0 | 1 2 3");
}

TEST(Batches, AreOfOneEachOrOfAllIfTheConfigurationSaysSo) {
  const std::vector<std::string> configs = {conf("a", "bridge"), conf("b", "sbr"),
                                            conf("c", "bridge")};
  EXPECT_EQ(batches(configs, ParallelAttach::kOff), "0 | 1 | 2 | 3");
  EXPECT_EQ(batches(configs, ParallelAttach::kAll), "0 | 1 2 3");
  EXPECT_EQ(batches({}, ParallelAttach::kAll), "0");
}

TEST(Batches, EndAtANetworkThatMayBuildOnAnother) {
  for (const std::string& alone :
       {conf("u", "unknown"), conf("u", "sbr"), conf("u", "vrf"), conf("u", "bond"),
        conf("u", "route-override"), conf("u", "vlan", R"(,"linkInContainer":true)"),
        conf("u", "macvlan", R"(,"ipam":{"type":"unknown"})"),
        std::string(R"({"name":"u","plugins":[{"type":"bridge"},{"type":"sbr"}]})")}) {
    EXPECT_EQ(batches({conf("a", "bridge"), conf("b", "vlan"), alone, conf("c", "tap"),
                       conf("d", "dummy")}),
              "0 | 1 2 | 3 | 4 5")
        << alone;
  }
}

TEST(Batches, TakeListsOfKnownPlugins) {
  const std::string list =
      R"({"name":"l","plugins":[{"type":"bridge","ipam":{"type":"host-local"}},)"
      R"({"type":"tuning"},{"type":"bandwidth"},{"type":"portmap"}]})";
  EXPECT_EQ(batches({conf("a", "ipvlan", R"(,"linkInContainer":false)"), list}), "0 | 1 2");
}

TEST(Batches, SeparateNetworksThatClaimTheSame) {
  const auto ipam = [](const std::string& members) {
    return cat(R"(,"ipam":{"type":"host-local",)", members, "}");
  };
  const std::string low = ipam(R"("subnet":"10.1.0.0/16")");
  // the same network twice
  EXPECT_EQ(batches({conf("a", "bridge"), conf("a", "bridge")}), "0 | 1 | 2");
  // the same prefix, however written
  EXPECT_EQ(batches({conf("a", "bridge", low),
                     conf("b", "bridge", ipam(R"("ranges":[[{"subnet":"10.1.0.0/16"}]])"))}),
            "0 | 1 | 2");
  EXPECT_EQ(batches({conf("a", "bridge", low),
                     conf("b", "macvlan",
                          R"(,"ipam":{"type":"static","addresses":[{"address":"10.1.2.3/16"}]})")}),
            "0 | 1 | 2");
  EXPECT_EQ(batches({conf("a", "bridge", low),
                     conf("b", "ptp",
                          R"(,"ipam":{"type":"whereabouts","range":"10.1.0.2-10.1.0.9/16"})")}),
            "0 | 1 | 2");
  // another length, or another prefix, decides itself
  EXPECT_EQ(
      batches({conf("a", "bridge", low), conf("b", "bridge", ipam(R"("subnet":"10.1.0.0/24")"))}),
      "0 | 1 2");
  EXPECT_EQ(
      batches({conf("a", "bridge", low), conf("b", "bridge", ipam(R"("subnet":"10.2.0.0/16")"))}),
      "0 | 1 2");
  // two default routes
  EXPECT_EQ(batches({conf("a", "bridge", R"(,"isDefaultGateway":true)"),
                     conf("b", "bridge", ipam(R"("routes":[{"dst":"0.0.0.0/0"}])"))}),
            "0 | 1 | 2");
  // a setting of the whole pod
  EXPECT_EQ(batches({conf("a", "tuning", R"(,"sysctl":{"net.core.somaxconn":"1"})"),
                     conf("b", "tuning", R"(,"sysctl":{"net.core.somaxconn":"2"})")}),
            "0 | 1 | 2");
  EXPECT_EQ(batches({conf("a", "tuning", R"(,"sysctl":{"net.ipv4.conf.IFNAME.forwarding":"1"})"),
                     conf("b", "tuning", R"(,"sysctl":{"net.ipv4.conf.IFNAME.forwarding":"1"})")}),
            "0 | 1 2");
  // a device that is moved in under another's name
  EXPECT_EQ(batches({conf("a", "host-device", R"(,"device":"net2")"), conf("b", "tap")}),
            "0 | 1 | 2");
}

}  // namespace
}  // namespace mnet::model
