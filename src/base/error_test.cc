#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/error_list.h"
#include "base/result.h"

namespace mnet {
namespace {

TEST(Error, KeepsTheErrorObjectOfAnotherProgramThroughEveryWrap) {
  Error error =
      Error::from_object(Errc::kPlugin, {11, "busy", "wait"}).wrap("plugin bridge").wrap("ADD");

  EXPECT_EQ(error.text(), "ADD: plugin bridge: busy; wait");
  ASSERT_NE(error.origin(), nullptr);
  EXPECT_EQ(*error.origin(), (ErrorObject{11, "busy", "wait"}));
}

TEST(Error, SpeaksOfTheSystemAsTheOriginalDoes) {
  const Error error = Error::from_errno(ENOENT, "open /x");

  EXPECT_EQ(error.text(), "open /x: no such file or directory");
  EXPECT_EQ(error.code(), Errc::kNotFound);
  EXPECT_EQ(error.os_errno(), ENOENT);
  EXPECT_EQ(errno_text(ETXTBSY), "text file busy");
}

TEST(Result, HoldsAnErrorUntilItIsSet) {
  Result<int> never_set;
  ASSERT_FALSE(never_set.has_value());
  EXPECT_EQ(never_set.error().code(), Errc::kBug);
}

TEST(ErrorList, JoinsAllTextsUnderTheFirstErrorObject) {
  ErrorList list;
  EXPECT_TRUE(list.join(" / ").has_value());

  list.add(Error(Errc::kIo, "a"));
  list.add(Error::from_object(Errc::kPlugin, {7, "b", ""}));
  list.add(Result<void>());

  auto joined = list.join(" / ");
  ASSERT_FALSE(joined.has_value());
  EXPECT_EQ(joined.error().text(), "a / b");
  EXPECT_EQ(joined.error().code(), Errc::kPlugin);
  EXPECT_EQ(joined.error().origin()->code, 7u);
}

}  // namespace
}  // namespace mnet
