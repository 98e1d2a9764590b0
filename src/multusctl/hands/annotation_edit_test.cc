#include "multusctl/hands/annotation_edit.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace mnet::multusctl {
namespace {

TEST(AnnotationEdit, AddsToWhatIsThereAsItIsWritten) {
  const NetworkChoice blue{.ns = "infra", .name = "blue", .ifname = "net2"};

  EXPECT_EQ(*with_network("", "a", blue), "infra/blue@net2");
  EXPECT_EQ(*with_network(" red , x/green@g0", "a", blue), "red , x/green@g0,infra/blue@net2");
  EXPECT_EQ(*with_network(R"([{"name":"red","ips":["10.0.0.1/24"]}])", "a", blue),
            R"([{"name":"red","ips":["10.0.0.1/24"]},)"
            R"({"name":"blue","namespace":"infra","interface":"net2"}])");
}

TEST(AnnotationEdit, RefusesAnInterfaceThatIsTaken) {
  EXPECT_EQ(with_network("red", "a", {.ns = "a", .name = "b", .ifname = "net1"}).error().code(),
            Errc::kConflict);
  EXPECT_FALSE(with_network("[", "a", {.ns = "a", .name = "b", .ifname = "net1"}).has_value());
}

TEST(AnnotationEdit, ChoosesTheFirstFreeInterface) {
  EXPECT_EQ(free_ifname("", "a", {}), "net1");
  EXPECT_EQ(free_ifname("red,green@net3", "a", {"eth0", "net2"}), "net4");
}

TEST(AnnotationEdit, TakesOutOneNetworkAndLeavesTheOthers) {
  const auto by_place =
      without_network("red, infra/blue ,green", "a", {.ns = "infra", .name = "blue"});
  const auto of_json = without_network(R"([{"name":"red"},{"name":"blue","interface":"b0"}])", "a",
                                       {.ns = "a", .name = "blue"});
  const auto last = without_network("red", "a", {.ns = "a", .name = "red"});

  ASSERT_TRUE(by_place && of_json && last);
  EXPECT_EQ(by_place->annotation, "red,green");
  EXPECT_EQ(by_place->ifname, "net2");
  EXPECT_EQ(of_json->annotation, R"([{"name":"red"}])");
  EXPECT_EQ(of_json->ifname, "b0");
  EXPECT_EQ(last->annotation, "");
}

TEST(AnnotationEdit, AsksWhichOneOfSeveral) {
  const NetworkChoice red{.ns = "a", .name = "red"};
  EXPECT_EQ(without_network("red,red@x", "a", red).error().code(), Errc::kConflict);
  EXPECT_EQ(
      without_network("red,red@x", "a", {.ns = "a", .name = "red", .ifname = "x"})->annotation,
      "red");
  EXPECT_EQ(without_network("green", "a", red).error().code(), Errc::kNotFound);
}

TEST(AnnotationEdit, ReadsANetworksName) {
  EXPECT_EQ(parse_choice("blue", "a")->key(), "a/blue");
  EXPECT_EQ(parse_choice("infra/blue", "a")->key(), "infra/blue");
  EXPECT_FALSE(parse_choice("a/b/c", "a").has_value());
  EXPECT_FALSE(parse_choice("Blue!", "a").has_value());
}

}  // namespace
}  // namespace mnet::multusctl
