#include "chain/early_start.h"

#include <gtest/gtest.h>

namespace mnet::chain {
namespace {

TEST(EarlyStart, IsForPluginsThatAreKnownToWaitForTheirConfiguration) {
  for (const char* type : {"bandwidth", "bridge", "portmap", "sbr", "vrf"}) {
    EXPECT_TRUE(waits_for_config(type)) << type;
  }
  for (const char* type : {"", "calico", "fake", "bridg", "bridge2", "flannel"}) {
    EXPECT_FALSE(waits_for_config(type)) << type;
  }
}

}  // namespace
}  // namespace mnet::chain
