#include "plugin/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

namespace mnet::plugin {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

ErrorObject object_of(std::string_view out, std::string_view err) {
  const Error error = failure(Errc::kPlugin, {"exit status 2", ""}, out, err);
  return *error.origin();
}

// Row I5.
TEST(PluginFailure, PassesThePluginsErrorOn) {
  const Error error = failure(
      Errc::kPlugin, {"exit status 3", ""},
      R"({"cniVersion":"1.0.0","code":11,"msg":"busy","details":"wait","more":1})", "noise");

  EXPECT_EQ(*error.origin(), (ErrorObject{11, "busy", "wait"}));
  EXPECT_EQ(error.text(), "busy; wait");
}

// Row I6.
TEST(PluginFailure, SaysHowItEndedWhenThePluginSaysNothing) {
  EXPECT_EQ(object_of("", "").msg, "netplugin failed with no error message: exit status 2");
  EXPECT_EQ(object_of("", "oops\n").msg, "netplugin failed: \"oops\\n\": exit status 2");
  EXPECT_THAT(object_of("hello", "").msg,
              StartsWith("netplugin failed but error parsing its diagnostic message \"hello\": "));
}

// Row I7.
TEST(PluginFailure, IsNeverWithoutAMessage) {
  EXPECT_EQ(object_of("{}", ""),
            (ErrorObject{0, "netplugin failed with no error message: exit status 2", ""}));
  EXPECT_EQ(object_of("null", "x").msg, "netplugin failed: \"x\": exit status 2");
  EXPECT_EQ(object_of(R"({"code":7,"details":"d"})", ""),
            (ErrorObject{7, "netplugin failed with no error message: exit status 2", "d"}));
}

// It may be killed between its last word and its end.
TEST(PluginFailure, OfAPluginThatPrintedAResultSaysWhatIsKnownOfItsEnd) {
  const auto killed = [](std::string_view out) {
    return *failure(Errc::kPlugin, {"signal: killed", "memory ran out"}, out, "").origin();
  };
  const std::string_view nothing_said = "netplugin failed with no error message: signal: killed";

  EXPECT_EQ(killed(R"({"cniVersion":"1.0.0","ips":[]})"),
            (ErrorObject{0, std::string(nothing_said), "memory ran out"}));
  EXPECT_EQ(killed(R"({"details":"its own"})"),
            (ErrorObject{0, std::string(nothing_said), "its own"}));
  EXPECT_EQ(killed(R"({"code":7,"msg":"busy"})"), (ErrorObject{7, "busy", ""}));
}

// Row I8.
TEST(PluginFailure, TakesNothingElseForAnErrorObject) {
  for (const char* out : {R"({"code":"7","msg":"m"})", R"({}{"code":8})", R"({"code":-1})", "[]",
                          "5", " ", "{\"code\":1"}) {
    EXPECT_THAT(object_of(out, "ignored").msg,
                StartsWith("netplugin failed but error parsing its diagnostic message "))
        << out;
  }
}

TEST(PluginFailure, BuildsNothingOfTooManyValues) {
  std::string zeros = "0";
  while (zeros.size() < 40'000) zeros += ",0";

  EXPECT_THAT(object_of(cat(R"({"code":7,"msg":"m","x":[)", zeros, "]}"), "").msg,
              HasSubstr("values, more than 10000"));
}

}  // namespace
}  // namespace mnet::plugin
