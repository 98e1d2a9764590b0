#include "nodetools/find_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "nodetools/discovery.h"

namespace mnet::nodetools {
namespace {

using testing::ElementsAre;

TEST(ReadType, TakesTheSecondPartForAVersionOnlyIfItLooksLikeOne) {
  EXPECT_THAT(read_type("cm"), ElementsAre(TypeReading{"cm", {}, ""}));
  EXPECT_THAT(read_type("deployments.apps"), ElementsAre(TypeReading{"deployments", "apps", ""}));
  EXPECT_THAT(read_type("deployments.v1.apps"),
              ElementsAre(TypeReading{"deployments", "apps", "v1"},
                          TypeReading{"deployments", "v1.apps", ""}));
  EXPECT_THAT(read_type("nad.k8s.cni.cncf.io"),
              ElementsAre(TypeReading{"nad", "k8s.cni.cncf.io", ""}));
  EXPECT_THAT(read_type("x.v2beta1.g.io"), ElementsAre(TypeReading{"x", "g.io", "v2beta1"},
                                                       TypeReading{"x", "v2beta1.g.io", ""}));
  EXPECT_THAT(read_type("x.v1beta.g"), ElementsAre(TypeReading{"x", "v1beta.g", ""}));
  EXPECT_THAT(read_type("pods.v1"),
              ElementsAre(TypeReading{"pods", "", "v1"}, TypeReading{"pods", "v1", ""}));
}

// 04, 4: row 83
TEST(FindResource, KnowsAllNamesInAnyLetterCase) {
  const std::vector<Resource> resources = {{.version = "v1",
                                            .kind = "ConfigMap",
                                            .plural = "configmaps",
                                            .singular = "configmap",
                                            .short_names = {"cm"}},
                                           {.group = "k8s.cni.cncf.io",
                                            .version = "v1",
                                            .kind = "NetworkAttachmentDefinition",
                                            .plural = "network-attachment-definitions",
                                            .singular = "network-attachment-definition",
                                            .short_names = {"nad", "net-attach-def"}}};

  for (const char* name : {"cm", "ConfigMap", "configmaps", "configmap", "CONFIGMAP"}) {
    ASSERT_NE(find_resource(resources, name), nullptr) << name;
    EXPECT_EQ(find_resource(resources, name)->plural, "configmaps");
  }
  EXPECT_EQ(find_resource(resources, "net-attach-def"), &resources[1]);
  EXPECT_EQ(find_resource(resources, "config"), nullptr);
}

TEST(ParseGroups, KeepsTheServersOrderAndPreference) {
  const auto groups = parse_groups(R"({"kind":"APIGroupList","groups":[
      {"name":"apps","versions":[{"version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}},
      {"name":"batch","preferredVersion":{"version":"v1beta1"}}, {"name":"odd"}]})");

  ASSERT_TRUE(groups.has_value()) << groups.error().text();
  ASSERT_EQ(groups->size(), 2u);
  EXPECT_EQ((*groups)[0].group, "apps");
  EXPECT_EQ((*groups)[1].version, "v1beta1");
  EXPECT_FALSE(parse_groups("[]").has_value());
  EXPECT_FALSE(parse_groups(R"({"groups":[5]})").has_value());
}

}  // namespace
}  // namespace mnet::nodetools
