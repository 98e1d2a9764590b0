#include <gtest/gtest.h>

#include "wire/wire.h"

namespace mnet::wire {
namespace {

// 03, 12: row 92.
TEST(SocketPath, IsCleanAndHasADefault) {
  EXPECT_EQ(socket_path(""), "/run/multus/multus.sock");
  EXPECT_EQ(socket_path("/somewhere//socket/"), "/somewhere/socket/multus.sock");
  EXPECT_EQ(socket_path("run/./x/.."), "run/multus.sock");
}

TEST(RequestId, IsSixteenHexDigits) {
  EXPECT_EQ(request_id(0), "0000000000000000");
  EXPECT_EQ(request_id(0x0123456789abcdef), "0123456789abcdef");
  EXPECT_TRUE(is_request_id(request_id(~0ull)));
  EXPECT_TRUE(is_request_id("0123456789ABCDEF"));
  for (const char* text : {"", "0123456789abcde", "0123456789abcdeg", "0123456789abcdef0"}) {
    EXPECT_FALSE(is_request_id(text)) << text;
  }
}

}  // namespace
}  // namespace mnet::wire
