#include "shim/response.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/try.h"

namespace mnet::shim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// The response in pieces of `size`, then the end of the stream.
Result<Response> read(std::string_view bytes, std::size_t size = 1) {
  ResponseReader reader;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, size);
    MNET_TRY_VOID(reader.feed(piece));
    bytes.remove_prefix(piece.size());
  }
  MNET_TRY_VOID(reader.finish());
  return std::move(reader).take();
}

constexpr std::string_view kChunked =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nContent-Length: 3\r\n\r\n"
    "4\r\n{\"Re\r\n00A;ext=1\r\nsult\":null\r\n1\r\n}\r\n0\r\nTrailer: x\r\n\r\nignored";

// 03, 12: row 90.
TEST(HttpResponse, IsReadHoweverItIsSplit) {
  for (std::size_t size = 1; size <= kChunked.size(); ++size) {
    const auto response = read(kChunked, size);

    ASSERT_TRUE(response.has_value()) << size << ": " << response.error().text();
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->body, R"({"Result":null})");
  }
}

TEST(HttpResponse, EndsWhereItsLengthSays) {
  const auto response = read("HTTP/1.1 400 Bad Request\nCONTENT-LENGTH: 2\n\nabc");

  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->status, 400);
  EXPECT_EQ(response->body, "ab");
}

TEST(HttpResponse, WithoutLengthEndsWithTheConnection) {
  const auto response = read("HTTP/1.0 200\r\n\r\nall of it");

  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->body, "all of it");
}

TEST(HttpResponse, HasNoBodyWhenTheStatusSaysSo) {
  EXPECT_EQ(read("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n")->status, 204);
}

TEST(HttpResponse, SkipsInformationalOnes) {
  const auto response = read(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nContent-Length: 9\r\n\r\n"
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");

  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "x");
}

TEST(HttpResponse, ThatEndsTooEarlyIsAnError) {
  EXPECT_EQ(read("").error().text(), "EOF");
  for (const char* bytes : {"HTTP", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n",
                            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"}) {
    EXPECT_EQ(read(bytes).error().text(), "unexpected EOF") << bytes;
  }
}

TEST(HttpResponse, TellsABrokenHeadFromABrokenBody) {
  ResponseReader reader;
  ASSERT_TRUE(reader.feed("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n").has_value());
  EXPECT_FALSE(reader.has_head());

  ASSERT_TRUE(reader.feed("\r\n").has_value());
  EXPECT_TRUE(reader.has_head());
  EXPECT_FALSE(reader.is_complete());
}

TEST(HttpResponse, RefusesGarbage) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  EXPECT_EQ(read("garbage\r\n").error().text(), R"(malformed HTTP response "garbage")");
  for (const std::string& bytes :
       {std::string("HTTP/2.0 200 OK\r\n"), std::string("HTTP/1.1 20\r\n"),
        std::string("HTTP/1.1 2000\r\n"), std::string("HTTP/1.1 +20\r\n"),
        std::string("HTTP/1.1 099\r\n"), ok + "no colon\r\n", ok + ": x\r\n",
        ok + "Content-Length: -1\r\n", ok + "Content-Length: 1x\r\n", ok + "Content-Length:\r\n",
        ok + "Content-Length: 1\r\nContent-Length: 2\r\n", ok + "Transfer-Encoding: gzip\r\n",
        ok + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
        ok + "Transfer-Encoding: chunked\r\n\r\n-1\r\n",
        ok + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n"}) {
    EXPECT_THAT(read(bytes).error().text(), StartsWith("malformed HTTP ")) << bytes;
  }
}

TEST(HttpResponse, HasBoundsForHeadAndBody) {
  const std::string long_line(70 << 10, 'a');
  const std::string long_body(ResponseReader::kMaxBody + 1, 'b');

  EXPECT_THAT(read(long_line, 4096).error().text(), HasSubstr("head larger"));
  std::string endless = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 20000; ++i) endless += "A: b\r\n";
  EXPECT_THAT(read(endless, 4096).error().text(), HasSubstr("head larger"));
  EXPECT_THAT(read("HTTP/1.1 200 OK\r\n\r\n" + long_body, 65536).error().text(),
              HasSubstr("body larger"));
}

}  // namespace
}  // namespace mnet::shim
