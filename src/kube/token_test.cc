#include "kube/token.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "base/text.h"

namespace mnet::kube {
namespace {

std::string web_token(std::string_view claims) {
  std::string middle = to_base64(claims);
  std::erase(middle, '=');
  std::ranges::replace(middle, '+', '-');
  std::ranges::replace(middle, '/', '_');
  return cat("eyJhbGciOiJSUzI1NiJ9.", middle, ".c2ln");
}

std::chrono::system_clock::time_point at(int seconds) {
  return std::chrono::system_clock::time_point(std::chrono::seconds(seconds));
}

TEST(TokenLife, IsWhatTheTokenSaysOfItself) {
  const auto both = life_of_token(web_token(R"({"iat":1000,"nbf":900,"exp":4600})"));
  const auto without_issue = life_of_token(web_token(R"({"nbf":900,"exp":4600.5})"));
  const auto end_only = life_of_token(web_token(R"({"sub":"~~~???","exp":4600})"));

  ASSERT_TRUE(both && without_issue && end_only);
  EXPECT_EQ(both->begin, at(1000));
  EXPECT_EQ(both->end, at(4600));
  EXPECT_EQ(without_issue->begin, at(900));
  EXPECT_EQ(without_issue->end, at(4600));
  EXPECT_FALSE(end_only->begin);
  EXPECT_EQ(end_only->end, at(4600));
}

TEST(TokenLife, IsUnknownOfAnythingElse) {
  for (const std::string& text :
       {std::string(), std::string("secret"), std::string("a.b"), std::string("a.b.c.d"),
        std::string(".."), std::string("a.e30.c"), std::string("a.eyJleHAiOjF9==.c"),
        web_token("[]"), web_token(R"({"exp":"4600"})"), web_token(R"({"exp":-1})"),
        web_token(R"({"exp":1e300})"), web_token(R"({"exp":9223372036854775807})"),
        web_token(cat(R"({"exp":4600,"x":")", std::string(64u << 10, 'x'), "\"}"))}) {
    EXPECT_FALSE(life_of_token(text)) << text.substr(0, 100);
  }
}

}  // namespace
}  // namespace mnet::kube
