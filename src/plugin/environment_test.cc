#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cni/args.h"
#include "plugin/plugin.h"

namespace mnet::plugin {
namespace {

using testing::UnorderedElementsAre;

// I13.
TEST(PluginEnvironment, HasOneEntryPerNameAndTheNewValueWins) {
  EXPECT_THAT(environment({"CNI_COMMAND=DEL", "FOO=1", "PATH=/p", "CNI_NETNS_OVERRIDE=1", "FOO=2"},
                          {{"CNI_COMMAND", "ADD"}}),
              UnorderedElementsAre("CNI_COMMAND=ADD", "FOO=2", "PATH=/p", "CNI_NETNS_OVERRIDE=1"));
}

// I14.
TEST(PluginEnvironment, CarriesTheArgumentsInTheirOrder) {
  EXPECT_THAT(environment({"PATH=/p"}, {{"CNI_ARGS", cni::args_text({{"A", "1"}, {"B", "2"}})}}),
              UnorderedElementsAre("PATH=/p", "CNI_ARGS=A=1;B=2"));
  EXPECT_THAT(environment({"PATH=/p"}, {{"CNI_ARGS", cni::args_text({})}}),
              UnorderedElementsAre("PATH=/p", "CNI_ARGS="));
}

TEST(PluginEnvironment, KeepsWhatIsNoPairAndValuesWithEquals) {
  EXPECT_THAT(environment({"odd", "odd", "PATH=", "A=b=c"}, {}),
              UnorderedElementsAre("odd", "odd", "PATH=", "A=b=c"));
}

TEST(PluginEnvironment, TellsNamesFromTheirBeginnings) {
  EXPECT_THAT(environment({"CNI_PATHS=x", "PATH=/p"}, {{"CNI_PATH", "/a:/b"}}),
              UnorderedElementsAre("CNI_PATHS=x", "PATH=/p", "CNI_PATH=/a:/b"));
}

TEST(PluginEnvironment, MakesPathSaneWhenItIsUnset) {
  EXPECT_THAT(
      environment({}, {}),
      UnorderedElementsAre("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"));
}

}  // namespace
}  // namespace mnet::plugin
