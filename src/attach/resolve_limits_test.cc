// What a pod or a definition may make of the daemon's time and memory, and what it may not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "attach/resolver_fixture.h"
#include "base/text.h"
#include "model/requested_networks.h"

namespace mnet::attach {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string repeated(const std::string& name, std::size_t count) {
  std::string text = name;
  for (std::size_t i = 1; i < count; ++i) text += cat(",", name);
  return text;
}

class ResolverLimits : public ResolverTest {};

TEST_F(ResolverLimits, RefusesTenThousandNetworksBeforeLookingForOne) {
  add_network("ns1", "a", R"({"type":"t"})");
  select(repeated("a", 10'000));

  EXPECT_THAT(error_of(), HasSubstr("asks for 10000 networks, more than 1000"));
  EXPECT_THAT(node_.source.asked, IsEmpty());
}

TEST_F(ResolverLimits, TakesTheSameNetworkAsOftenAsItIsNamed) {
  add_network("ns1", "a", R"({"type":"t"})");
  select(repeated("a", model::kMaxNetworks));
  EXPECT_THAT(names(resolve()), SizeIs(model::kMaxNetworks + 1));
}

TEST_F(ResolverLimits, TakesAConfigurationOfAMegabyteAndNotAnyNumberOfThem) {
  const std::string text =
      cat(R"({"name":"a","type":"t","x":")", std::string(1u << 20, 'x'), R"("})");
  add_network("ns1", "a", text);

  select("a");
  auto resolved = resolve();
  ASSERT_TRUE(resolved) << resolved.error().text();
  EXPECT_EQ(resolved->delegates[1].bytes, text);

  select(repeated("a", 100));
  EXPECT_THAT(error_of(), HasSubstr("more than 4194304 bytes"));
}

TEST_F(ResolverLimits, RefusesConfigurationsNestedTooDeeply) {
  add_network(
      "ns1", "a",
      cat(R"({"type":"t","x":)", std::string(100'000, '['), std::string(100'000, ']'), "}"));
  select("a");
  EXPECT_THAT(error_of(), HasSubstr("failed to unmarshal Spec.Config"));
}

TEST_F(ResolverLimits, PassesOnBytesThatAreNotUtf8OnlyWhereNothingIsChanged) {
  const std::string text = "{\"name\":\"a\",\"type\":\"t\",\"x\":\"\xff\"}";
  add_network("ns1", "a", text);

  select(R"([{"name":"a"},{"name":"a","cni-args":{}}])");
  auto resolved = resolve();

  ASSERT_TRUE(resolved) << resolved.error().text();
  EXPECT_EQ(resolved->delegates[1].bytes, text);
  EXPECT_THAT(resolved->delegates[2].bytes, HasSubstr("\xef\xbf\xbd"));
}

TEST_F(ResolverLimits, SurvivesAnAnnotationThatIsNotUtf8) {
  select("a\xff");
  EXPECT_THAT(error_of(), HasSubstr("did not match comma-delimited format"));
  select("[{\"name\":\"\xff\"}]");
  EXPECT_THAT(error_of(), HasSubstr("cannot find a network-attachment-definition"));
}

}  // namespace
}  // namespace mnet::attach
