// Network statuses against a server that says exactly what the test wants; tests/cluster has the
// real one.
#include "adapters/kube_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "adapters/kube_pod_fixture.h"
#include "aio/run.h"
#include "base/error.h"
#include "base/log.h"
#include "http/scripted_server.h"
#include "kube/fake_api.h"

namespace mnet::adapters {
namespace {

using namespace std::chrono_literals;
using http::Peer;
using http::RawRequest;
using testing::ElementsAre;

// Only the verbs: `PATCH /api/...` becomes `PATCH`.
std::vector<std::string> methods(const kube::FakeApi& server) {
  std::vector<std::string> out;
  for (const std::string& request : server.asked())
    out.push_back(request.substr(0, request.find(' ')));
  return out;
}

// Upstream's ClusterRole: no patch, but update.
void answer_as_upstreams_role(Peer& peer, const RawRequest& request) {
  peer.answer(request.method() == "PATCH" ? 403 : 200, kPlainPod);
}

// Two statuses, one after the other, where a refusal is remembered for that time.
std::vector<std::string> asked_for_two_with(std::chrono::milliseconds refusal) {
  aio::asio::io_context loop;  // outlives the connections
  const kube::FakeApi server(answer_as_upstreams_role);
  const auto api = server.client();
  KubeStatus status(*api, Log(), {.refusal = refusal});
  EXPECT_TRUE(aio::run(loop, status.write(plain_pod(), "[1]")).has_value());
  EXPECT_TRUE(aio::run(loop, status.write(plain_pod(), "[2]")).has_value());
  return methods(server);
}

// 02, 12: row 103
TEST(KubeStatus, RemembersThatPatchesAreForbiddenForAWhile) {
  EXPECT_THAT(asked_for_two_with(10min), ElementsAre("PATCH", "GET", "PUT", "GET", "PUT"));
}

// 02, 12: row 103
TEST(KubeStatus, TriesAForbiddenPatchAgainWhenThatTimeIsOver) {
  EXPECT_THAT(asked_for_two_with(0ms), ElementsAre("PATCH", "GET", "PUT", "PATCH", "GET", "PUT"));
}

// 02, 12: row 102
TEST(KubeStatus, IsAnErrorWhereNothingIsAllowedAndRemembersNothing) {
  aio::asio::io_context loop;  // outlives the connections
  const kube::FakeApi server([](Peer& peer, const RawRequest& request) {
    peer.answer(request.method() == "GET" ? 200 : 403, kPlainPod);
  });
  const auto api = server.client();
  KubeStatus status(*api, Log(), {.denial = 0ms});

  const auto first = aio::run(loop, status.write(plain_pod(), "[1]"));
  const auto second = aio::run(loop, status.write(plain_pod(), "[1]"));

  ASSERT_FALSE(first.has_value());
  EXPECT_EQ(first.error().code(), Errc::kDenied);
  EXPECT_FALSE(second.has_value());
  EXPECT_THAT(methods(server), ElementsAre("PATCH", "GET", "PUT", "PATCH", "GET", "PUT"));
}

// 02, 12: row 103
TEST(KubeStatus, RepeatsAConflictingUpdateWithTheNewestObject) {
  aio::asio::io_context loop;  // outlives the connections
  int updates = 0;
  const kube::FakeApi server([&updates](Peer& peer, const RawRequest& request) {
    if (request.method() == "PUT" && ++updates <= 3) {
      peer.answer(409, "{}");
    } else {
      answer_as_upstreams_role(peer, request);
    }
  });
  const auto api = server.client();
  KubeStatus status(*api, Log());

  const auto written = aio::run(loop, status.write(plain_pod(), "[1]"));

  EXPECT_TRUE(written.has_value());
  EXPECT_THAT(methods(server),
              ElementsAre("PATCH", "GET", "PUT", "GET", "PUT", "GET", "PUT", "GET", "PUT"));
}

}  // namespace
}  // namespace mnet::adapters
