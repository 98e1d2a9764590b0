// Runs the tests of one program from the root of the tree, so that they name their data as
// `tests/data/...` from wherever they are started.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  if (chdir(MNET_SOURCE_DIR) != 0) {
    std::perror(MNET_SOURCE_DIR);
    return 2;
  }
  return RUN_ALL_TESTS();
}
