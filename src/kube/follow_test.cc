// The Reflector as the tools of the node use it: one object, or several from storage (04, 2.2).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/fake_timer.h"
#include "aio/group.h"
#include "aio/run.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "http/scripted_server.h"
#include "json/json.h"
#include "kube/fake_api.h"
#include "kube/kube.h"
#include "kube/reflector.h"
#include "kube/sink.h"
#include "kube/watch_event.h"

namespace mnet::kube {
namespace {

using namespace std::chrono_literals;
using http::Peer;
using http::RawRequest;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string map_text(std::string_view value, int version, std::string_view name = "m") {
  return cat(R"({"metadata":{"namespace":"n","name":")", name, R"(","resourceVersion":")", version,
             R"("},"data":{"v":")", value, R"("}})");
}
std::string event_text(std::string_view type, const std::string& object) {
  return cat(R"({"type":")", type, R"(","object":)", object, "}\n");
}

struct Listener final : Sink {
  std::vector<std::string> told, keys;
  bool follows_one = false;
  int connections = 0;

  void begin() override { keys.clear(); }
  Result<void> add(const json::Object& object) override {
    keys.push_back(parse_meta(object)->key());
    return change(EventType::kAdded, object);
  }
  void commit() override {
    if (!follows_one) told.push_back(cat("listed ", join(keys, ",")));
  }
  Result<void> change(EventType type, const json::Object& object) override {
    const std::string value = *object.find("data")->as_object()->find("v")->as_string();
    told.push_back(cat(type == EventType::kDeleted ? "gone " : "", value));
    return {};
  }
  void absent() override { told.push_back("absent"); }
  void connected() override { ++connections; }
  void trouble(const std::string& why) override { told.push_back(cat("trouble: ", why)); }
};

ReflectorSettings one_map() {
  ReflectorSettings out = tool_watch("/api/v1/namespaces/n/configmaps");
  out.name = "m";
  out.ends_if_unknown = true;
  return out;
}

class FollowObject : public testing::Test {
 protected:
  // Follows the object `m`, or all, until so much has been told.
  bool follow(FakeApi::Answer answer, std::size_t count, ReflectorSettings what) {
    server = std::make_unique<FakeApi>(std::move(answer));
    api = server->client();
    listener.follows_one = !what.name.empty();
    what.first_pause = 5ms;
    what.longest_pause = 20ms;
    Reflector follower(*api, std::move(what), listener, Log(), [] { return 0.5; });
    aio::Group group(loop.get_executor(),
                     [this](const std::string&, const Error& error) { ended = error.text(); });
    group.spawn("follower", follower.run());
    const bool is_done =
        drive(loop, [&] { return listener.told.size() >= count || !ended.empty(); });
    group.cancel();
    (void)aio::run(loop, group.join());
    return is_done;
  }
  bool follow_one(FakeApi::Answer answer, std::size_t count) {
    return follow(std::move(answer), count, one_map());
  }
  // Until so many pauses have passed, each at once; false if it goes on without any.
  bool follow_fast(FakeApi::Answer answer, std::size_t pauses, ReflectorSettings what) {
    server = std::make_unique<FakeApi>(std::move(answer));
    api = server->client();
    aio::FakeTimer timer(pauses);
    listener.follows_one = !what.name.empty();
    Reflector follower(*api, std::move(what), listener, Log(), [] { return 0.5; }, timer);
    aio::Group group(loop.get_executor(),
                     [this](const std::string&, const Error& error) { ended = error.text(); });
    group.spawn("follower", follower.run());
    (void)drive(loop, [&] {
      return timer.waits().size() > pauses || server->asked().size() > 100 || !ended.empty();
    });
    group.cancel();
    (void)aio::run(loop, group.join());
    waits = timer.waits();
    return waits.size() == pauses + 1;
  }
  static bool is_watch(const RawRequest& request) {
    return request.target().find("watch=1") != std::string::npos;
  }

  aio::asio::io_context loop;
  Listener listener;
  std::unique_ptr<FakeApi> server;
  std::unique_ptr<Api> api;
  std::string ended;
  std::vector<std::chrono::milliseconds> waits;
};

// 04, 4: row 82.
TEST_F(FollowObject, ReadsTheObjectAndWatchesItByName) {
  ASSERT_TRUE(follow_one(
      [](Peer& peer, const RawRequest& request) {
        if (!is_watch(request)) return peer.answer(200, map_text("a", 5));
        peer.begin_chunks();
        const std::string text = event_text("MODIFIED", map_text("b", 6));
        peer.chunk(text.substr(0, 20));
        peer.chunk(text.substr(20));
        peer.chunk(event_text("DELETED", map_text("b", 7)));
        peer.wait_for_close();
      },
      3));

  EXPECT_THAT(listener.told, ElementsAre("a", "b", "gone b"));
  EXPECT_THAT(server->asked(),
              ElementsAre("GET /api/v1/namespaces/n/configmaps/m",
                          "GET /api/v1/namespaces/n/configmaps?watch=1&allowWatchBookmarks=true&"
                          "timeoutSeconds=450&fieldSelector=metadata.name%3Dm&resourceVersion=5"));
}

// 04, 4: row 78.
TEST_F(FollowObject, WatchesForAnObjectThatIsNotThereYet) {
  ASSERT_TRUE(follow_one(
      [](Peer& peer, const RawRequest& request) {
        if (!is_watch(request)) return peer.answer(404, "{}");
        peer.begin_chunks();
        peer.chunk(event_text("ADDED", map_text("a", 5)));
        peer.wait_for_close();
      },
      2));

  EXPECT_THAT(listener.told, ElementsAre("absent", "a"));
  ASSERT_EQ(server->asked().size(), 2u);
  EXPECT_THAT(server->asked()[1], Not(HasSubstr("resourceVersion")));
}

// 04, 4: row 80.
TEST_F(FollowObject, GoesOnWhereItsStreamEnded) {
  std::atomic<int> watches = 0;
  ASSERT_TRUE(follow_one(
      [&](Peer& peer, const RawRequest& request) {
        if (!is_watch(request)) return peer.answer(200, map_text("a", 5));
        peer.begin_chunks();
        if (++watches == 1) {
          peer.chunk(event_text("BOOKMARK", R"({"metadata":{"resourceVersion":"9"}})"));
          peer.chunk(event_text("SURPRISE", "{}"));
          return peer.end_chunks();
        }
        peer.chunk(event_text("MODIFIED", map_text("b", 10)));
        peer.wait_for_close();
      },
      2));

  EXPECT_THAT(listener.told, ElementsAre("a", "b"));
  ASSERT_EQ(server->asked().size(), 3u);
  EXPECT_THAT(server->asked()[2], HasSubstr("resourceVersion=9"));
}

// 04, 4: row 81.
TEST_F(FollowObject, ReadsAgainWhenItsPositionIsForgotten) {
  std::atomic<int> watches = 0;
  ASSERT_TRUE(follow_one(
      [&](Peer& peer, const RawRequest& request) {
        if (!is_watch(request)) return peer.answer(200, map_text("a", 5));
        if (++watches == 1) {
          peer.begin_chunks();
          peer.chunk(event_text("BOOKMARK", R"({"metadata":{"resourceVersion":"9"}})"));
          peer.chunk(event_text("ERROR", R"({"kind":"Status","code":410,"reason":"Expired"})"));
          return peer.end_chunks();
        }
        if (watches == 2) return peer.answer(410, R"({"code":410})");
        peer.begin_chunks();
        peer.chunk(event_text("MODIFIED", map_text("b", 10)));
        peer.wait_for_close();
      },
      5));

  EXPECT_THAT(listener.told,
              ElementsAre("a", "a", "trouble: the server answered with status 410", "a", "b"));
}

// 04, 4: row 81. The first time is not worth a complaint.
TEST_F(FollowObject, ReadsAgainWhenItsPositionIsForgottenFromTheBeginning) {
  std::atomic<int> watches = 0;
  ASSERT_TRUE(follow_one(
      [&](Peer& peer, const RawRequest& request) {
        if (!is_watch(request)) return peer.answer(200, map_text("a", 5));
        peer.begin_chunks();
        if (++watches <= 2) {
          peer.chunk(event_text("ERROR", R"({"kind":"Status","code":410,"message":"too old"})"));
          return peer.end_chunks();
        }
        peer.chunk(event_text("MODIFIED", map_text("b", 10)));
        peer.wait_for_close();
      },
      5));

  EXPECT_THAT(listener.told, ElementsAre("a", "a", "trouble: too old", "a", "b"));
}

constexpr std::string_view kGone = R"({"kind":"Status","code":410,"message":"too old"})";

// An event before it is not progress: the reflector would go in a circle with it, too.
TEST_F(FollowObject, PausesLongerAndLongerWhileEachPositionIsForgotten) {
  EXPECT_TRUE(follow_fast(
      [](Peer& peer, const RawRequest& request) {
        if (!is_watch(request)) return peer.answer(200, map_text("a", 5));
        peer.begin_chunks();
        peer.chunk(event_text("BOOKMARK", R"({"metadata":{"resourceVersion":"9"}})"));
        peer.chunk(event_text("ERROR", std::string(kGone)));
        peer.end_chunks();
      },
      3, one_map()));

  EXPECT_THAT(waits, ElementsAre(1s, 2s, 4s, 8s));
  EXPECT_EQ(server->asked().size(), 8u);
}

TEST_F(FollowObject, WaitsAsLongAsTheServerAsksWhenThePositionIsForgotten) {
  EXPECT_TRUE(follow_fast(
      [](Peer& peer, const RawRequest& request) {
        if (!is_watch(request)) return peer.answer(200, map_text("a", 5));
        peer.answer(410, kGone, "Retry-After: 10\r\n");
      },
      0, one_map()));

  EXPECT_THAT(waits, ElementsAre(11s));
}

TEST_F(FollowObject, PausesLongerAndLongerWhileEachStreamEndsAfterAnEvent) {
  EXPECT_TRUE(follow_fast(
      [](Peer& peer, const RawRequest& request) {
        if (!is_watch(request)) return peer.answer(200, map_text("a", 5));
        peer.begin_chunks();
        peer.chunk(event_text("BOOKMARK", R"({"metadata":{"resourceVersion":"9"}})"));
        peer.end_chunks();
      },
      3, one_map()));

  EXPECT_THAT(waits, ElementsAre(500ms, 1s, 2s, 4s));
}

TEST_F(FollowObject, PausesLongerAndLongerWhileEachPagesTokenExpires) {
  EXPECT_TRUE(follow_fast(
      [](Peer& peer, const RawRequest& request) {
        const bool is_first = request.target().find("continue") == std::string::npos;
        if (!is_first) return peer.answer(410, kGone);
        peer.answer(200, R"({"metadata":{"resourceVersion":"7","continue":"t"},"items":[]})");
      },
      3, tool_watch("/api/v1/pods")));

  EXPECT_THAT(waits, ElementsAre(1s, 2s, 4s, 8s));
}

TEST_F(FollowObject, PausesLongerAndLongerWhileACollectionThatIsCertainIsUnknown) {
  ReflectorSettings certain = one_map();
  certain.ends_if_unknown = false;
  EXPECT_TRUE(follow_fast(
      [](Peer& peer, const RawRequest&) { peer.answer(404, R"({"message":"no such page"})"); }, 3,
      certain));

  EXPECT_THAT(waits, ElementsAre(1s, 2s, 4s, 8s));
  EXPECT_THAT(listener.told, ElementsAre("absent", "trouble: no such page"));
}

TEST_F(FollowObject, PausesAfterFailuresAndSaysWhyOnce) {
  std::atomic<int> reads = 0;
  ASSERT_TRUE(follow_one(
      [&](Peer& peer, const RawRequest& request) {
        if (++reads < 4) return peer.answer(403, R"({"message":"not allowed"})");
        if (!is_watch(request)) return peer.answer(200, map_text("a", 5));
        peer.wait_for_close();
      },
      2));

  EXPECT_THAT(listener.told, ElementsAre("trouble: not allowed", "a"));
  EXPECT_EQ(listener.connections, 1);
}

// 04, 4: row 84.
TEST_F(FollowObject, ListsSeveralInPagesAndWatchesThem) {
  ReflectorSettings what = tool_watch("/api/v1/pods");
  what.label_selector = "purpose=a";
  ASSERT_TRUE(follow(
      [](Peer& peer, const RawRequest& request) {
        if (is_watch(request)) {
          peer.begin_chunks();
          peer.chunk(event_text("ADDED", map_text("c", 8, "z")));
          return peer.wait_for_close();
        }
        const bool is_first = request.target().find("continue") == std::string::npos;
        peer.answer(200, cat(R"({"metadata":{"resourceVersion":"7")",
                             is_first ? R"(,"continue":"t/1")" : "", R"(},"items":[)",
                             is_first ? map_text("a", 1, "x") : map_text("b", 2, "y"), "]}"));
      },
      4, what));

  EXPECT_THAT(listener.told, ElementsAre("a", "b", "listed n/x,n/y", "c"));
  EXPECT_THAT(server->asked(),
              ElementsAre("GET /api/v1/pods?limit=500&labelSelector=purpose%3Da",
                          "GET /api/v1/pods?limit=500&labelSelector=purpose%3Da&continue=t%2F1",
                          "GET /api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=450&"
                          "labelSelector=purpose%3Da&resourceVersion=7"));
}

TEST_F(FollowObject, EndsWhenTheCollectionIsUnknown) {
  ASSERT_TRUE(follow_one(
      [](Peer& peer, const RawRequest&) { peer.answer(404, R"({"message":"no such page"})"); }, 9));

  EXPECT_EQ(ended, "no such page");
  EXPECT_THAT(listener.told, ElementsAre("absent"));
}

}  // namespace
}  // namespace mnet::kube
