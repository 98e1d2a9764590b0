#include "kube_watch/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "aio/fake_timer.h"
#include "aio/group.h"
#include "aio/run.h"
#include "base/log.h"
#include "http/scripted_server.h"
#include "kube/fake_api.h"
#include "kube_watch/channel.h"
#include "kube_watch/deliveries.h"
#include "nodetools/output.h"
#include "sys/test_dir.h"

namespace mnet::kube_watch {
namespace {

using namespace std::chrono_literals;
using http::Peer;
using http::RawRequest;
using testing::ElementsAre;

constexpr std::string_view kCore = R"({"resources":[
  {"name":"configmaps","singularName":"configmap","kind":"ConfigMap","namespaced":true}]})";

// An aggregated API that comes and goes.
TEST(ObjectWatch, PausesLongerAndLongerWhileTheServerDoesNotHaveWhatItSaysThatItHas) {
  aio::asio::io_context loop(1);  // outlives the connections
  const kube::FakeApi server([](Peer& peer, const RawRequest& request) {
    const bool is_discovery = request.target() == "/api/v1";
    peer.answer(is_discovery ? 200 : 404, is_discovery ? kCore : "{}");
  });
  const auto api = server.client();
  const sys::TestDir dir;
  nodetools::RecordedOutput output;
  Deliveries deliveries({}, *Channel::make(dir / "channel", "s").value(), output);
  aio::FakeTimer timer(3);
  ObjectWatch source(
      {.type = "configmaps", .label = "a=b"}, "n", *api, deliveries, output, [] { return 0.5; },
      timer);
  aio::Group group(loop.get_executor(), Log());

  group.spawn("source", source.run());

  EXPECT_TRUE(kube::drive(loop, [&timer] { return timer.waits().size() == 4; }));
  EXPECT_THAT(timer.waits(), ElementsAre(1s, 2s, 4s, 8s));
  group.cancel();
  EXPECT_TRUE(aio::run(loop, group.join()).has_value());
}

}  // namespace
}  // namespace mnet::kube_watch
