// What the vectors of tests/data/vectors/devices.json leave open; tests/cluster has the real API.
#include "devices/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "aio/task.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "devices/fake_resource_objects.h"
#include "devices/pod_resources.h"
#include "devices/slices.h"

namespace mnet::devices {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr const char* kOfNode = "spec.nodeName=node1,spec.driver=d";
constexpr const char* kOfNone = "spec.nodeName=,spec.driver=d";

class ClaimsTest : public testing::Test {
 protected:
  Result<DeviceIds> devices(const std::string& pod) {
    auto claims = parse_pod_claims(pod);
    if (!claims) return claims.error();
    Slices slices(loop_.get_executor(), objects_, 20s, Log());
    ClaimedDevices reader(objects_, slices, "ns1", "node1", Log());
    auto found = aio::run(loop_, reader.add_to({}, *std::move(claims)));
    EXPECT_TRUE(aio::run(loop_, slices.wait_ended(aio::kNoDeadline)).has_value());
    return found;
  }

  boost::asio::io_context loop_;
  FakeResourceObjects objects_;
};

// 02, 12: row 88; kubernetes#140036; pain 24
TEST_F(ClaimsTest, ComeInTheOrderOfThePodWhetherNamedOrMadeFromATemplate) {
  objects_.allocate("direct", {"2", "1"});
  objects_.allocate("made", {"3"});
  objects_.allocate("late", {"0"});
  objects_.publish(kOfNode, 1, {"0", "1", "2", "3"});

  auto found = devices(R"({"spec.resourceClaims":[{"name":"b","resourceClaimName":"direct"},
                            {"name":"a","resourceClaimTemplateName":"t"}],
      "status.resourceClaimStatuses":[{"name":"z","resourceClaimName":"late"},
                            {"name":"a","resourceClaimName":"made"},{"name":"y"}]})");

  ASSERT_TRUE(found.has_value()) << found.error().text();
  EXPECT_THAT(*found,
              ElementsAre(Pair("res", ElementsAre("id-2-1", "id-1-1", "id-3-1", "id-0-1"))));
}

TEST(PodClaims, OfATemplateThatHasNoClaimYetAreUnfinished) {
  EXPECT_TRUE(
      parse_pod_claims(R"({"spec.resourceClaims":[{"name":"a","resourceClaimTemplateName":"t"}]})")
          ->is_unfinished);
  const auto none_needed = parse_pod_claims(
      R"({"spec.resourceClaims":[{"name":"a","resourceClaimTemplateName":"t"}],
          "status.resourceClaimStatuses":[{"name":"a"}]})");
  EXPECT_FALSE(none_needed->is_unfinished);
  EXPECT_TRUE(none_needed->is_empty());
  EXPECT_TRUE(parse_pod_claims("")->is_empty());
}

TEST(PodClaims, AreLimitedInNumber) {
  std::vector<std::string> all;
  for (int i = 0; i < 300; ++i) {
    all.push_back(cat(R"({"name":"n)", i, R"(","resourceClaimName":"c)", i, "\"}"));
  }
  const auto claims = parse_pod_claims(cat(R"({"spec.resourceClaims":[)", join(all, ","), "]}"));
  ASSERT_FALSE(claims.has_value());
  EXPECT_THAT(claims.error().text(), HasSubstr("more than 256 claims"));
}

// 02, 12: row 92; 02-F29
TEST_F(ClaimsTest, AreLookedForInTheNewestGenerationOfAPool) {
  objects_.allocate("c", {"1", "2"});
  objects_.publish(kOfNode, 2, {"1"});
  objects_.publish(kOfNode, 1, {"1", "2"});

  auto found = devices(R"({"spec.resourceClaims":[{"name":"c","resourceClaimName":"c"}]})");

  ASSERT_TRUE(found.has_value()) << found.error().text();
  EXPECT_THAT(*found, ElementsAre(Pair("res", ElementsAre("id-1-2"))));
}

// 02-F29
TEST_F(ClaimsTest, AreLookedForInSlicesWithoutANodeOnlyIfTheNodeHasThemNot) {
  objects_.allocate("c", {"1"});
  objects_.publish(kOfNode, 1, {"1"});
  const char* pod = R"({"spec.resourceClaims":[{"name":"c","resourceClaimName":"c"}]})";
  ASSERT_TRUE(devices(pod).has_value());
  EXPECT_THAT(objects_.asked, ElementsAre("c", kOfNode));

  objects_.allocate("c", {"1", "shared"});
  objects_.publish(kOfNone, 7, {"shared"});
  objects_.asked.clear();
  EXPECT_THAT(*devices(pod), ElementsAre(Pair("res", ElementsAre("id-1-1", "id-shared-7"))));
  EXPECT_THAT(objects_.asked, ElementsAre("c", kOfNode, kOfNone));
}

TEST_F(ClaimsTest, AreReadPageByPage) {
  objects_.allocate("c", {"2"});
  objects_.publish(kOfNode, 1, {"1"});
  objects_.publish(kOfNode, 1, {"2"});
  EXPECT_THAT(*devices(R"({"spec.resourceClaims":[{"name":"c","resourceClaimName":"c"}]})"),
              ElementsAre(Pair("res", ElementsAre("id-2-1"))));
  EXPECT_THAT(objects_.asked, ElementsAre("c", kOfNode, cat(kOfNode, " from 1")));
}

// 02, 12: row 90
TEST_F(ClaimsTest, ThatAreMissingOrNotAllocatedAreErrors) {
  const char* pod = R"({"spec.resourceClaims":[{"name":"c","resourceClaimName":"c"}]})";
  EXPECT_THAT(devices(pod).error().text(), HasSubstr("resource claim ns1/c not found"));
  objects_.claims["c"] = "{}";
  EXPECT_THAT(devices(pod).error().text(), HasSubstr("claim c has no device allocation"));
  objects_.claims["c"] = R"({"status":{"allocation":{}}})";  // of something else than devices
  EXPECT_THAT(*devices(pod), IsEmpty());
}

TEST_F(ClaimsTest, OfMoreThanTheApiAllowsAreNotRead) {
  const char* pod = R"({"spec.resourceClaims":[{"name":"c","resourceClaimName":"c"}]})";
  objects_.allocate("c", std::vector<std::string>(8193, "1"));
  EXPECT_THAT(devices(pod).error().text(), HasSubstr("than the API allows"));
  objects_.allocate("c", {std::string(254, 'x')});
  EXPECT_THAT(devices(pod).error().text(), HasSubstr("than the API allows"));

  objects_.allocate("c", std::vector<std::string>(5000, "1"));
  objects_.allocate("d", std::vector<std::string>(5000, "1"));
  EXPECT_THAT(devices(R"({"spec.resourceClaims":[{"name":"c","resourceClaimName":"c"},
                            {"name":"d","resourceClaimName":"d"}]})")
                  .error()
                  .text(),
              HasSubstr("more than 8192 devices"));
}

}  // namespace
}  // namespace mnet::devices
