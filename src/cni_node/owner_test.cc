#include "cni_node/owner.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <string>
#include <string_view>

#include "aio/fake_timer.h"
#include "aio/run.h"
#include "http/scripted_server.h"
#include "kube/fake_api.h"

namespace mnet::cni_node {
namespace {

using Fate = Owner::Fate;
using http::Peer;
using http::RawRequest;

constexpr std::string_view kHere = R"({"metadata":{"uid":"1"}})";

// Is known at first, unless `first` says otherwise; then the server answers with `status` and
// `body`.
Fate fate_after(int status, std::string body, int first = 200) {
  std::atomic<int> asked = 0;
  aio::asio::io_context loop(1);
  const kube::FakeApi server([&](Peer& peer, const RawRequest&) {
    if (asked++ == 0 && first == 200) return peer.answer(200, kHere);
    peer.answer(status, body);
  });
  const auto api = server.client();
  aio::FakeTimer timer;
  Owner owner(*api, "ns", "set", timer);
  if (first == 200) {
    EXPECT_TRUE(aio::run(loop, owner.learn()).has_value());
  }
  const auto verdict = aio::run(loop, owner.judge());
  EXPECT_EQ(server.asked().back(), "GET /apis/apps/v1/namespaces/ns/daemonsets/set");
  return verdict.value().fate;
}

TEST(Owner, IsGoneIfItDoesNotExistOrIsAnotherOrIsBeingDeleted) {
  EXPECT_EQ(fate_after(404, "{}"), Fate::kGone);
  EXPECT_EQ(fate_after(200, R"({"metadata":{"uid":"2"}})"), Fate::kGone);
  EXPECT_EQ(fate_after(200, R"({"metadata":{"uid":"1","deletionTimestamp":"t"}})"), Fate::kGone);
}

TEST(Owner, StaysIfItIsThereOrIfNobodyCanTell) {
  EXPECT_EQ(fate_after(200, std::string(kHere)), Fate::kStays);
  EXPECT_EQ(fate_after(500, "{}"), Fate::kStays);
  EXPECT_EQ(fate_after(200, "no JSON"), Fate::kStays);
}

// A user who deletes all manifests at once deletes our rights, too.
TEST(Owner, ThatMayNotBeReadAnyMoreIsForbiddenOnlyIfItCouldBeReadOnce) {
  EXPECT_EQ(fate_after(403, "{}"), Fate::kForbidden);
  EXPECT_EQ(fate_after(401, "{}"), Fate::kForbidden);
  EXPECT_EQ(fate_after(403, "{}", 403), Fate::kStays);
}

}  // namespace
}  // namespace mnet::cni_node
