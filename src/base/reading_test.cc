#include "base/reading.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/error.h"

namespace mnet {
namespace {

// Code that reads a record asks both before it takes the record for absent.
TEST(Reading, TellsAShortageFromDamageAndBothFromTheRest) {
  for (const int shortage : {EMFILE, ENFILE, ENOMEM}) {
    const Error error = Error::from_errno(shortage, "open x").wrap("reading");
    EXPECT_TRUE(is_shortage(error)) << shortage;
    EXPECT_FALSE(is_damage(error)) << shortage;
  }
  for (const int other : {EIO, EACCES, ENOENT}) {
    EXPECT_FALSE(is_shortage(Error::from_errno(other, "open x"))) << other;
    EXPECT_FALSE(is_damage(Error::from_errno(other, "open x"))) << other;
  }
  EXPECT_TRUE(is_damage(Error(Errc::kProtocol, "not JSON")));
}

}  // namespace
}  // namespace mnet
