#include "http/pem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mnet::http {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Pem, FindsTheBlocksOfATypeAmongOtherText) {
  EXPECT_THAT(pem_blocks("# a comment\n-----BEGIN X-----\nYQ==\n-----END X-----\n"
                         "-----BEGIN Y-----\nYg==\n-----END Y-----\nmore\n"
                         "-----BEGIN X-----  \r\nY\t2\r\nM=\r\n-----END X-----",
                         "X"),
              ElementsAre("a", "cc"));
}

TEST(Pem, PassesOverBlocksThatAreNotWellFormed) {
  const std::string good = "-----BEGIN X-----\nYQ==\n-----END X-----\n";

  for (const std::string bad :
       {"-----BEGIN X-----\n!!!!\n-----END X-----\n",  // not base64
        "-----BEGIN X-----\nYQ==\n-----END Y-----\n",  // ends as something else
        "-----BEGIN X-----\nYQ==\n-----END X----- and more\n",
        "-----BEGIN X-----\nA: b\n\nYQ==\n-----END X-----\n",  // has a header
        " -----BEGIN X-----\nYQ==\n-----END X-----\n",         // not at the start of a line
        "-----BEGIN X-----\nYQ==\n",                           // never ends
        "-----BEGIN X\nYQ==\n-----END X-----\n", "-----END X-----\n", "\n-----END "}) {
    EXPECT_THAT(pem_blocks(bad, "X"), IsEmpty()) << bad;
    EXPECT_THAT(pem_blocks(bad + good, "X"), ElementsAre("a")) << bad;
  }
  EXPECT_THAT(pem_blocks("", "X"), IsEmpty());
}

}  // namespace
}  // namespace mnet::http
