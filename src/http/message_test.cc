#include "http/message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "base/try.h"
#include "http/http.h"

namespace mnet::http {
namespace {

constexpr std::uint64_t kNoLimit = 1u << 30;

// Offers the bytes in pieces of `step`; the number of bytes left over, or the error.
Result<std::size_t> feed(Message& message, std::string_view bytes, std::size_t step) {
  std::string unread;
  while (!bytes.empty() && !message.done()) {
    unread += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
    if (!message.has_head()) {
      MNET_TRY(auto&& used, message.take_head(unread));
      unread.erase(0, used);
    }
    if (message.has_head()) {
      MNET_TRY(auto&& used, message.take_body(unread, kNoLimit));
      unread.erase(0, used);
    }
  }
  return unread.size() + bytes.size();
}

Result<std::size_t> read_request(std::string_view bytes) {
  Message message(MessageKind::kRequest);
  return feed(message, bytes, bytes.size());
}

TEST(Message, ReadsARequestWhereverItIsCut) {
  const std::string text =
      "POST /cni?x HTTP/1.1\r\nHost: dummy\r\nContent-Type: application/json\r\n"
      "Content-Length: 4\r\n\r\nnull";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    Message message(MessageKind::kRequest);

    const auto left = feed(message, text, step);

    ASSERT_TRUE(left.has_value()) << step << ": " << left.error().text();
    EXPECT_EQ(*left, 0u);
    EXPECT_TRUE(message.done());
    EXPECT_EQ(message.head().method, "POST");
    EXPECT_EQ(message.head().target, "/cni?x");
    EXPECT_EQ(message.head().content_length, 4u);
    EXPECT_EQ(message.body(), "null");
  }
}

TEST(Message, ReadsAChunkedBodyWhereverItIsCut) {
  const std::string text =
      "POST /cni HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3;ext=1\r\nabc\r\n0a\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    Message message(MessageKind::kRequest);

    const auto left = feed(message, text, step);

    ASSERT_TRUE(left.has_value()) << step << ": " << left.error().text();
    EXPECT_TRUE(message.done()) << step;
    EXPECT_TRUE(message.head().is_chunked);
    EXPECT_EQ(message.head().content_length, std::nullopt);
    EXPECT_EQ(message.body(), "abc0123456789") << step;
    EXPECT_EQ(find_header(message.head().headers, "Trailer"), nullptr);
  }
}

TEST(Message, ReadsAnEmptyChunkedBodyWhereverItIsCut) {
  const std::string text =
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nT: x\r\n\r\n";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    Message message(MessageKind::kRequest);
    ASSERT_TRUE(feed(message, text, step).has_value()) << step;
    EXPECT_TRUE(message.done()) << step;
    EXPECT_EQ(message.body(), "");
  }
}

TEST(Message, SkipsBlankLinesBeforeARequest) {
  for (std::size_t step : {1u, 2u, 3u, 100u}) {
    Message message(MessageKind::kRequest);
    ASSERT_TRUE(feed(message, "\r\n\r\nGET / HTTP/1.0\r\n\r\n", step).has_value());
    EXPECT_TRUE(message.done());
    EXPECT_FALSE(message.head().is_1_1);
  }
}

TEST(Message, RefusesWhatIsNotHttp) {
  const std::string head = "POST /cni HTTP/1.1\r\nHost: a\r\n";
  for (const std::string& text : {
           std::string("\x16\x03\x01\x02\r\n\r\n"),
           std::string("hello\r\n\r\n"),
           std::string("GET /\r\n\r\n"),
           std::string("GET / HTTP/2.0\r\n\r\n"),
           std::string("GET / HTTP/1.1\nHost: a\n\n"),
           head + "no colon here\r\n\r\n",
           head + " folded first: x\r\nbad name: x\r\n\r\n",
           head + "Content-Length: 4\r\nContent-Length: 5\r\n\r\nnull",
           head + "Content-Length: 4, 5\r\n\r\nnull",
           head + "Content-Length: -4\r\n\r\nnull",
           head + "Content-Length: +4\r\n\r\nnull",
           head + "Content-Length: 99999999999999999999\r\n\r\nnull",
           head + "Content-Length: \r\n\r\nnull",
           head + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           head + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
           head + "Transfer-Encoding: gzip\r\n\r\n",
           head + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
           head + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
       }) {
    const auto read = read_request(text);
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error().code(), Errc::kInvalid) << text;
  }
}

TEST(Message, TakesTheSameLengthTwice) {
  EXPECT_TRUE(
      read_request(
          "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nnull")
          .has_value());
}

TEST(Message, RefusesABodyBeyondTheLimitBeforeItHasCome) {
  Message chunked(MessageKind::kRequest);
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  ASSERT_TRUE(chunked.take_head(head).has_value());

  const auto first = chunked.take_body("5\r\nabcde\r\n", 10);
  const auto second = chunked.take_body("\r\n6\r\n", 10);

  EXPECT_TRUE(first.has_value());
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code(), Errc::kDenied);
}

TEST(Message, ReadsAResponseThatEndsWithTheConnection) {
  Message message(MessageKind::kResponse);
  ASSERT_TRUE(feed(message, "HTTP/1.0 200 OK\r\n\r\nabc", 7).has_value());
  EXPECT_FALSE(message.done());

  EXPECT_TRUE(message.take_end().has_value());

  EXPECT_TRUE(message.done());
  EXPECT_EQ(message.body(), "abc");
}

TEST(Message, KnowsThatAnAnswerWasCutOff) {
  for (const char* text : {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", "HTTP/1.1 200 O",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"}) {
    Message message(MessageKind::kResponse);
    ASSERT_TRUE(feed(message, text, 4).has_value());
    const auto end = message.take_end();
    ASSERT_FALSE(end.has_value()) << text;
    EXPECT_EQ(end.error().code(), Errc::kProtocol);
  }
}

TEST(Message, AResponseToHeadHasNoBody) {
  Message message(MessageKind::kResponseToHead);
  ASSERT_TRUE(feed(message, "HTTP/1.1 405 X\r\nContent-Length: 19\r\n\r\n", 100).has_value());
  EXPECT_TRUE(message.done());
}

}  // namespace
}  // namespace mnet::http
