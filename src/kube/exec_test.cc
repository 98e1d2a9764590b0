#include "kube/exec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "aio/run.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "http/scripted_server.h"
#include "kube/fake_api.h"

namespace mnet::kube {
namespace {

using http::Peer;
using http::RawRequest;
using testing::ElementsAre;
using testing::HasSubstr;

std::string frame(std::string_view payload, int first = 0x82) {
  std::string out(1, static_cast<char>(first));
  if (payload.size() < 126) {
    out += static_cast<char>(payload.size());
  } else {
    out += static_cast<char>(126);
    out += static_cast<char>(payload.size() >> 8);
    out += static_cast<char>(payload.size() & 0xff);
  }
  return out += payload;
}

std::string channel(char number, std::string_view bytes) { return frame(cat(number, bytes)); }

constexpr std::string_view kSwitched =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n";
constexpr std::string_view kFailed =
    R"({"status":"Failure","message":"exit 3","details":{"causes":[{"reason":"ExitCode","message":"3"}]}})";

Result<ExecOutput> run_against(const std::string& bytes, std::string* asked = nullptr) {
  aio::asio::io_context loop;  // outlives the connections
  const FakeApi server([&](Peer& peer, const RawRequest& request) {
    if (asked != nullptr) *asked = request.header("Sec-WebSocket-Protocol");
    peer.send(bytes);
  });
  const auto api = server.client();
  auto output = aio::run(loop, exec(api.get(),
                                    {.ns = "kube-system",
                                     .pod = "multus-x",
                                     .container = "kube-multus",
                                     .command = {"/bin/a b", "--x"}},
                                    std::chrono::steady_clock::now() + std::chrono::seconds(20)));
  EXPECT_THAT(
      server.asked(),
      ElementsAre("GET /api/v1/namespaces/kube-system/pods/multus-x/exec?stdout=true&stderr="
                  "true&container=kube-multus&command=%2Fbin%2Fa%20b&command=--x"));
  return output;
}

TEST(Exec, JoinsTheChannelsOfACommand) {
  std::string offered;
  const auto output = run_against(
      cat(kSwitched, channel(1, "one "), channel(2, "bad"), channel(1, std::string(300, 'x')),
          frame("p", 0x89), channel(3, R"({"status":"Success"})")),
      &offered);

  ASSERT_TRUE(output.has_value()) << output.error().text();
  EXPECT_EQ(output->out, cat("one ", std::string(300, 'x')));
  EXPECT_EQ(output->err, "bad");
  EXPECT_EQ(output->exit_code, 0);
  EXPECT_EQ(offered, "v5.channel.k8s.io, v4.channel.k8s.io");
}

TEST(Exec, YieldsTheExitCode) {
  const auto output = run_against(cat(kSwitched, channel(3, kFailed)));

  ASSERT_TRUE(output.has_value()) << output.error().text();
  EXPECT_EQ(output->exit_code, 3);
}

TEST(Exec, NamesTheRightThatIsMissing) {
  const std::string body = R"({"kind":"Status","code":403,"message":"forbidden"})";
  const auto output =
      run_against(cat("HTTP/1.1 403 Forbidden\r\nContent-Length: ", body.size(), "\r\n\r\n", body));

  ASSERT_FALSE(output.has_value());
  EXPECT_EQ(output.error().code(), Errc::kDenied);
  EXPECT_THAT(output.error().text(), HasSubstr("pods/exec in namespace kube-system"));
}

TEST(Exec, TellsAnEndFromAnError) {
  EXPECT_EQ(run_against(cat(kSwitched, channel(1, "x"), frame("", 0x88))).error().code(),
            Errc::kProtocol);
  EXPECT_EQ(
      run_against(cat(kSwitched, channel(3, R"({"status":"Failure","message":"no such file"})")))
          .error()
          .text(),
      "the command cannot be run: no such file");
}

TEST(FrameReader, JoinsFragmentsAroundControlFrames) {
  FrameReader frames;
  const std::string all = cat(frame("a", 0x02), frame("", 0x89), frame("b", 0x80), frame("c"));
  std::string seen;
  for (const char byte : all) {  // whatever the pieces that the connection gives
    frames.put(std::string_view(&byte, 1));
    for (auto message = frames.next(); message && *message; message = frames.next()) {
      seen += cat((*message)->opcode, (*message)->payload, " ");
    }
  }

  EXPECT_EQ(seen, "9 2ab 2c ");
}

TEST(FrameReader, RefusesWhatNoServerSends) {
  for (const std::string& bytes :
       {std::string("\x82\x81xxxxy"), frame("a", 0x80), cat(frame("a", 0x02), frame("b", 0x02)),
        std::string("\x82\x7f\x00\x00\x00\x00\x7f\xff\xff\xff", 10), frame("", 0x08)}) {
    FrameReader frames;
    frames.put(bytes);
    Result<std::optional<FrameReader::Message>> message = frames.next();
    EXPECT_FALSE(message.has_value());
  }
}

}  // namespace
}  // namespace mnet::kube
