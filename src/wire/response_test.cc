#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "cni/error.h"
#include "cni/result.h"
#include "json/json.h"
#include "wire/wire.h"

namespace mnet::wire {
namespace {

using testing::StartsWith;

cni::NetResult read(std::string_view text) { return *cni::read_result(*json::parse(text)); }

TEST(ResponseBody, HoldsTheResultInTheCurrentVersionWithSortedMembers) {
  const auto body = response_body(
      read(R"({"cniVersion":"0.4.0","interfaces":[{"name":"eth0","mac":"m","sandbox":"s"}],)"
           R"("ips":[{"version":"4","interface":0,"address":"10.1.1.5/24","gateway":"10.1.1.1"}],)"
           R"("routes":[{"dst":"0.0.0.0/0"}],"dns":{}})"));

  EXPECT_EQ(*body, R"({"Result":{"cniVersion":"1.1.0","interfaces":[{"mac":"m","name":"eth0",)"
                   R"("sandbox":"s"}],"ips":[{"address":"10.1.1.5/24","gateway":"10.1.1.1",)"
                   R"("interface":0}],"routes":[{"dst":"0.0.0.0/0"}]}})");
}

TEST(ParseResponse, FindsTheResultInAnyLetterCase) {
  for (const char* body : {R"({"Result":{"cniVersion":"1.1.0","interfaces":[{"name":"a"}]}})",
                           R"({"result":{"interfaces":[{"name":"a"}]}})",
                           R"({"RESULT":{"cniVersion":"0.4.0","interfaces":[{"name":"a"}]}})"}) {
    const auto result = parse_response(body);

    ASSERT_TRUE(result.has_value() && *result) << body;
    EXPECT_EQ((*result)->interfaces.at(0).name, "a");
  }
}

TEST(ParseResponse, FindsNoneInAnEmptyAnswer) {
  for (const char* body : {"", "\n", "{}", "null", R"({"Result":null})"}) {
    const auto result = parse_response(body);

    ASSERT_TRUE(result.has_value()) << body;
    EXPECT_FALSE(result->has_value()) << body;
  }
}

TEST(ParseResponse, SaysWhatItCouldNotRead) {
  for (const char* body : {"<html>", "[]", R"({"Result":5})", R"({"Result":{"cniVersion":"9"}})"}) {
    EXPECT_THAT(parse_response(body).error().text(),
                StartsWith("failed to unmarshal response '" + std::string(body) + "': "));
  }
}

TEST(ErrorBody, IsALineOfTextWithoutAnErrorObject) {
  const ErrorBody body = error_body(Error(Errc::kInvalid, "unknown cmd type: X"));
  const ErrorBody lines = error_body(Error(Errc::kInvalid, "a\nb"));

  EXPECT_EQ(body.content_type, "text/plain; charset=utf-8");
  EXPECT_EQ(body.body, "unknown cmd type: X\n");
  EXPECT_EQ(lines.body, "a b\n");
}

TEST(ErrorBody, KeepsCodeAndDetailsAndAllThatWasWrappedAround) {
  const Error error = cni::coded(cni::Code::kTryAgainLater, "busy", "wait").wrap("network \"x\"");

  const ErrorBody body = error_body(error);

  EXPECT_EQ(body.content_type, "application/json");
  EXPECT_EQ(body.body, R"({"code":11,"msg":"network \"x\": busy","details":"wait"})");
}

TEST(ErrorBody, NeverHasAnEmptyMsg) {
  EXPECT_EQ(error_body(Error::from_object(Errc::kPlugin, {7, "", ""})).body,
            R"({"code":7,"msg":"unknown delegate error"})");
  EXPECT_EQ(error_body(Error::from_object(Errc::kPlugin, {7, "", "d"}).wrap("net")).body,
            R"({"code":7,"msg":"net: unknown delegate error","details":"d"})");
  EXPECT_EQ(error_body(Error(Errc::kBug, "")).body, "unknown delegate error\n");
}

// 03, 12: row 89.
TEST(ParseError, KeepsAnErrorObjectAndQuotesEverythingElse) {
  const Error object =
      parse_error(400, R"({"code":11,"msg":"busy","details":"d","cniVersion":"1"})");
  ASSERT_NE(object.origin(), nullptr);
  EXPECT_EQ(*object.origin(), (ErrorObject{11, "busy", "d"}));

  for (const char* body : {"text\n", "<html>", R"({"code":5})", R"({"code":5,"msg":""})",
                           R"({"code":"5","msg":"m"})", R"({"code":-1,"msg":"m"})", "[]", ""}) {
    const Error error = parse_error(500, body);

    EXPECT_EQ(error.origin(), nullptr) << body;
    EXPECT_EQ(error.text(), "CNI request failed with status 500: '" + std::string(body) + "'");
  }
}

TEST(ParseError, ReadsBackWhatErrorBodyWrote) {
  const Error error = cni::coded(cni::Code::kNotAvailable, "m", "d").wrap("around");

  EXPECT_EQ(*parse_error(400, error_body(error).body).origin(),
            (ErrorObject{50, "around: m", "d"}));
}

}  // namespace
}  // namespace mnet::wire
