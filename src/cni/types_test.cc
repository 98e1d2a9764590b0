#include "cni/types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "json/json.h"

namespace mnet::cni {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// The text of the error, or `fine`.
std::string check(const std::string& config, std::string_view configured = {}) {
  const auto checked = check_types(json::parse_object(config).value(), configured);
  return checked ? "fine" : checked.error().text();
}

TEST(OwnTypes, AreAllNamesOfOurProgramsAndTheConfiguredOne) {
  for (const char* type : {"multus", "multus-cni", "multus-shim"}) {
    EXPECT_TRUE(is_own_type(type)) << type;
    EXPECT_TRUE(is_own_type(type, "our-shim")) << type;
  }
  EXPECT_TRUE(is_own_type("our-shim", "our-shim"));
  EXPECT_FALSE(is_own_type("our-shim"));
  for (const char* type : {"", "Multus", "multus2", "multus-vxlan", "passthru", "multus "}) {
    EXPECT_FALSE(is_own_type(type)) << type;
  }
}

// 02, 12: row 60
TEST(CheckTypes, RefusesMultusItselfAtEveryDepth) {
  EXPECT_EQ(check(R"({"type":"multus"})"), R"(type "multus" is multus itself)");
  EXPECT_EQ(check(R"({"type":"x","ipam":{"type":"multus-shim"}})"),
            R"(ipam.type "multus-shim" is multus itself)");
  EXPECT_EQ(check(R"({"plugins":[{"type":"x"},{"type":"y","delegate":{"type":"multus-cni"}}]})"),
            R"(plugins[1].delegate.type "multus-cni" is multus itself)");
  EXPECT_EQ(check(R"({"type":"x","ipam":[[{"a":[1,{"type":"ours"}]}]]})", "ours"),
            R"(ipam[0][0].a[1].type "ours" is multus itself)");
}

// Plugins written in Go read a key in any letter case.
TEST(CheckTypes, KnowsTheKeyInAnyLetterCase) {
  EXPECT_EQ(check(R"({"type":"x","IPAM":{"TyPe":"multus"}})"),
            R"(IPAM.TyPe "multus" is multus itself)");
  EXPECT_EQ(check(R"({"Type":"multus","type":"x"})"), R"(Type "multus" is multus itself)");
}

// We, libcni and a plugin could each take another one.
TEST(CheckTypes, RefusesTwoSpellingsOfAKeyThatSaysWhatRuns) {
  EXPECT_EQ(check(R"({"type":"x","Type":"y"})"), R"(the key "type" is there in two spellings)");
  EXPECT_EQ(check(R"({"plugins":[{"type":"x","ipam":{"TYPE":"a","type":"b"}}]})"),
            R"(the key "type" is there in two spellings)");
  EXPECT_EQ(check(R"({"type":"x","ipam":{"type":"a"},"Ipam":{}})"),
            R"(the key "ipam" is there in two spellings)");
  EXPECT_EQ(check("{\"plugins\":[{\"type\":\"x\"}],\"plugin\xc5\xbf\":[{\"type\":\"y\"}]}"),
            R"(the key "plugins" is there in two spellings)");
  EXPECT_EQ(check(R"({"type":"x","capabilities":{},"Capabilities":{"mac":true}})"),
            R"(the key "capabilities" is there in two spellings)");
  EXPECT_EQ(check(R"({"Type":"x","mtu":1,"MTU":2,"types":[],"ipams":{}})"), "fine");
}

TEST(CheckTypes, RefusesPathsEverywhere) {
  EXPECT_EQ(check(R"({"type":"../evil"})"), "type: invalid plugin name: ../evil");
  EXPECT_EQ(check(R"({"type":"x","ipam":{"type":"/srv/evil"}})"),
            "ipam.type: invalid plugin name: /srv/evil");
  EXPECT_EQ(check(R"({"type":"x","ipam":{"type":"host-local\u0000x"}})"),
            R"(ipam.type: invalid plugin name: host-local\x00x)");
}

// Configurations of public plugins.
TEST(CheckTypes, LeavesOtherMembersAlone) {
  EXPECT_EQ(check(R"({"type":"calico","policy":{"type":"k8s"},"kubernetes":{"type":7},
                      "ipam":{"type":"calico-ipam","subnet":"usePodCidr"},"name":"multus"})"),
            "fine");
  EXPECT_EQ(check(R"({"type":"sriov","resourceName":"intel.com/vf","types":["a/b"],"type2":"a/b",
                      "ipam":{"type":"whereabouts","kubernetes":{"kubeconfig":"/a/b"}}})"),
            "fine");
  EXPECT_EQ(check(R"({"type":"x","ipam":{"type":""},"a":{"type":null},"b":{"type":["multus"]},
                      "plugin":"multus","multus":{}})"),
            "fine");
}

TEST(CheckTypes, ShowsForeignTextBoundedAndWithoutControlCharacters) {
  const std::string error = check(
      cat(R"({")", std::string(5000, 'k'), R"(\n":{"type":"/)", std::string(5000, 't'), "\"}}"));

  EXPECT_LT(error.size(), 300u);
  EXPECT_THAT(error, HasSubstr("kkk...: invalid plugin name: /ttt"));
  EXPECT_EQ(check(R"({"a\nb":{"type":"multus"}})"), R"(a\nb.type "multus" is multus itself)");
}

TEST(CheckTypes, GoesAsDeepAsAConfigurationCan) {
  std::string inner = R"({"type":"multus"})";
  for (int i = 0; i < json::kMaxDepth - 1; ++i) inner = cat(R"({"d":)", inner, "}");

  EXPECT_THAT(check(inner), StartsWith("d.d.d.d."));
  EXPECT_THAT(check(inner), HasSubstr(R"(... "multus" is multus itself)"));
}

TEST(CheckTypesForRemoval, RefusesWhatWouldStartAProgramAndNothingElse) {
  const auto allows = [](const char* text) {
    return check_types_for_removal(json::parse_object(text).value(), "ours").has_value();
  };

  EXPECT_TRUE(allows(R"({"type":"x","driver":{"type":"net/virtio"}})"));
  EXPECT_FALSE(allows(R"({"type":"../x"})"));
  EXPECT_FALSE(allows(R"({"type":"x","IPAM":{"Type":"a/b"}})"));
  EXPECT_FALSE(allows(R"({"type":"x","driver":[{"type":"multus"}]})"));
  EXPECT_FALSE(allows(R"({"type":"ours"})"));
}

TEST(AllowedTypes, AreTheOnlyOnesAtEveryDepthAndInAnyCase) {
  const auto refusal = [](const char* text, const std::vector<std::string>& allowed) {
    const auto checked = check_allowed_types(json::parse_object(text).value(), allowed);
    return checked ? "fine" : checked.error().text();
  };

  EXPECT_EQ(refusal(R"({"type":"a","ipam":{"type":"b"}})", {"a", "b"}), "fine");
  EXPECT_EQ(refusal(R"({"name":"x"})", {}), "fine");
  EXPECT_EQ(refusal(R"({"type":"a"})", {}),
            R"(type "a" is not among allowedPluginTypes (which is empty))");
  EXPECT_EQ(refusal(R"({"type":"A"})", {"a"}), R"(type "A" is not among allowedPluginTypes (a))");
  EXPECT_EQ(refusal(R"({"plugins":[{"type":"a"},{"type":"a","x":{"tYPE":"c"}}]})", {"a", "b"}),
            R"(plugins[1].x.tYPE "c" is not among allowedPluginTypes (a, b))");
  EXPECT_EQ(refusal(R"({"type":"a","ipam":{"type":""}})", {"a"}),
            R"(ipam.type "" is not among allowedPluginTypes (a))");
}

TEST(CheckNames, RefusesTwoSpellingsOfWhatTheResultIsKeptUnder) {
  const auto check = [](const char* text) {
    const auto checked = check_names(json::parse_object(text).value());
    return checked ? "fine" : checked.error().text();
  };

  EXPECT_EQ(check(R"({"name":"a","NAME":null})"), R"(the key "name" is there in two spellings)");
  EXPECT_EQ(check(R"({"CNIVersion":"1.0.0","cniVersion":"0.4.0"})"),
            R"(the key "cniVersion" is there in two spellings)");
  EXPECT_EQ(check(R"({"Name":"a","cniVersions":[],"env":{"name":1,"NAME":2}})"), "fine");
}

}  // namespace
}  // namespace mnet::cni
