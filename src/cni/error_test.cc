#include "cni/error.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "base/result.h"
#include "json/json.h"

namespace mnet::cni {
namespace {

Result<ErrorObject> parsed(const std::string& text) {
  return parse_error_object(json::parse(text).value());
}

TEST(CniError, KeepsItsCodeThroughEveryWrap) {
  const Error error = coded(Code::kTryAgainLater, "busy", "wait").wrap("adding").wrap("CmdAdd");

  EXPECT_EQ(error.text(), "CmdAdd: adding: busy; wait");
  EXPECT_EQ(error.code(), Errc::kUnavailable);
  EXPECT_EQ(object_for_runtime(error), (ErrorObject{11, "busy", "wait"}));
}

TEST(CniError, OfAPlainErrorIsInternalWithTheWholeText) {
  EXPECT_EQ(object_for_runtime(Error(Errc::kIo, "open: no").wrap("reading")),
            (ErrorObject{999, "reading: open: no", ""}));
}

TEST(CniError, IsWrittenInTheOriginalsOrderWithoutEmptyDetailsAndWithoutVersion) {
  EXPECT_EQ(json::dump(to_json(ErrorObject{7, "m", "d"})), R"({"code":7,"msg":"m","details":"d"})");
  EXPECT_EQ(json::dump(to_json(ErrorObject{0, "", ""})), R"({"code":0,"msg":""})");
  EXPECT_EQ(json::dump(to_json(ErrorObject{18446744073709551615u, "m", ""})),
            R"({"code":18446744073709551615,"msg":"m"})");
}

TEST(CniError, IsReadWithUnknownKeysIgnoredAndMissingOnesEmpty) {
  EXPECT_EQ(parsed(R"({"cniVersion":"1.0.0","code":11,"msg":"busy","details":"wait"})").value(),
            (ErrorObject{11, "busy", "wait"}));
  EXPECT_EQ(parsed("{}").value(), ErrorObject());
  EXPECT_EQ(parsed("null").value(), ErrorObject());
}

TEST(CniError, IsRefusedWithAWrongType) {
  EXPECT_FALSE(parsed(R"({"code":"7","msg":"m"})").has_value());
  EXPECT_FALSE(parsed(R"({"code":-1,"msg":"m"})").has_value());
  EXPECT_FALSE(parsed(R"({"code":7.0,"msg":"m"})").has_value());
  EXPECT_FALSE(parsed(R"({"code":7,"msg":5})").has_value());
  EXPECT_FALSE(parsed(R"("x")").has_value());
  EXPECT_FALSE(parsed("[]").has_value());
}

}  // namespace
}  // namespace mnet::cni
