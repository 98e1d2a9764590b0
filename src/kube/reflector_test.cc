#include "kube/reflector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "aio/fake_timer.h"
#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "aio/timer.h"
#include "base/backoff.h"
#include "base/log.h"
#include "base/result.h"
#include "base/test_log.h"
#include "base/text.h"
#include "http/scripted_server.h"
#include "http/test_tls.h"
#include "json/json.h"
#include "kube/api.h"
#include "kube/config.h"
#include "kube/fake_api.h"
#include "kube/objects.h"
#include "kube/store.h"
#include "kube/watch_event.h"
#include "model/objects.h"
#include "model/requested_networks.h"

namespace mnet::kube {
namespace {

using namespace std::chrono_literals;
using http::Peer;
using http::RawRequest;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

std::string pod(std::string_view name, int version) {
  return cat(R"({"metadata":{"namespace":"default","name":")", name, R"(","uid":"u-)", name,
             R"(","resourceVersion":")", version, R"("}})");
}
std::string event(std::string_view type, std::string_view object) {
  return cat(R"({"type":")", type, R"(","object":)", object, "}\n");
}
std::string bookmark(int version, bool ends_list = false) {
  const std::string_view end =
      ends_list ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "";
  return event("BOOKMARK",
               cat(R"({"kind":"Pod","metadata":{"resourceVersion":")", version, "\"", end, "}}"));
}
std::string gone_event() {
  return event("ERROR", R"({"kind":"Status","code":410,"reason":"Expired","message":"too old"})");
}
std::string list_of(const std::vector<std::string>& items, int version,
                    std::string_view continuation = "") {
  return cat(R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")", version,
             R"(","continue":")", continuation, R"("},"items":[)", join(items, ","), "]}");
}

bool is_watch(const RawRequest& request) {
  return request.target().find("watch=true") != std::string::npos;
}
bool wants_initial(const RawRequest& request) {
  return request.target().find("sendInitialEvents=true") != std::string::npos;
}
bool resumes_at(const RawRequest& request, int version) {
  return request.target().ends_with(cat("resourceVersion=", version)) ||
         request.target().find(cat("resourceVersion=", version, "&")) != std::string::npos;
}

class ReflectorTest : public testing::Test {
 protected:
  // Begins to follow what `answer` tells.
  void follow(FakeApi::Answer answer) {
    server_ = std::make_unique<FakeApi>(std::move(answer));
    api_ = server_->client();
    aio::Timer& timer = timer_ ? *timer_ : aio::Timer::steady();
    reflector_ = std::make_unique<Reflector>(*api_, settings_, store_,
                                             Log({log_}, LogLevel::kError), random_, timer);
    group_ = std::make_unique<aio::Group>(loop_.get_executor(), Log());
    group_->spawn("reflector", reflector_->run());
  }
  void TearDown() override {
    if (!group_) return;
    group_->cancel();
    EXPECT_TRUE(aio::run(loop_, group_->join()).has_value());
  }

  // The same, with pauses that pass at once; so many of them.
  void follow_fast(std::size_t pauses, FakeApi::Answer answer) {
    settings_.first_pause = 800ms;
    settings_.longest_pause = 30s;
    timer_ = std::make_unique<aio::FakeTimer>(pauses);
    follow(std::move(answer));
  }
  // Until it stands still; false if it goes on without pauses.
  bool until_still(std::size_t pauses) {
    const auto is_still = [this, pauses] { return timer_->waits().size() > pauses; };
    return until([&] { return is_still() || server_->asked().size() > 100; }) && is_still();
  }
  // What was asked for, but for what is the same in all requests: `watch resourceVersion=9`.
  std::vector<std::string> queries() const;

  bool until(const std::function<bool()>& condition) { return drive(loop_, condition); }
  bool has(std::string_view name) const { return store_.find("default", name) != nullptr; }
  std::string version_of(std::string_view name) const {
    const auto found = store_.find("default", name);
    return found == nullptr ? "" : found->resource_version;
  }

  aio::asio::io_context loop_;
  ReflectorSettings settings_{.path = "/api/v1/pods",
                              .field_selector = "spec.nodeName=node-1",
                              .page = 2,
                              .initial_silence = 10s,
                              .shortest = 0ms,
                              .first_pause = 1ms,
                              .longest_pause = 20ms};
  Random random_ = [] { return 0.0; };
  std::shared_ptr<TestLog> log_ = std::make_shared<TestLog>();
  Store<model::PodObject> store_{&parse_stored_pod};
  std::unique_ptr<FakeApi> server_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<aio::FakeTimer> timer_;
  std::unique_ptr<Reflector> reflector_;
  std::unique_ptr<aio::Group> group_;
};
using Reflector_ = ReflectorTest;

std::vector<std::string> ReflectorTest::queries() const {
  std::vector<std::string> out;
  for (const std::string& request : server_->asked()) {
    std::vector<std::string> kept;
    for (const std::string_view part : split(request.substr(request.find('?') + 1), '&')) {
      const bool is_always_there = part.starts_with("timeoutSeconds") ||
                                   part.starts_with("fieldSelector") ||
                                   part == "allowWatchBookmarks=true";
      if (!is_always_there) kept.emplace_back(part);
    }
    out.push_back(join(kept, "&"));
  }
  return out;
}

constexpr std::string_view kGone =
    R"({"kind":"Status","code":410,"reason":"Expired","message":"too old"})";
constexpr std::string_view kTooLarge =
    R"({"kind":"Status","code":504,"reason":"Timeout","message":"Timeout: Too large resource version",
        "details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}})";
constexpr std::string_view kInitial =
    "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";

// Where lists come in pages: each list has one object more and ends at 9, 10, 11, ...
void answer_list(Peer& peer, int number) {
  peer.answer(200, list_of({pod("a", number)}, 8 + number));
}

// 03, 12, row 101.
TEST_F(Reflector_, AsksForAStreamedListOfThisNodesPodsWithBookmarks) {
  follow([](Peer& peer, const RawRequest&) {
    peer.begin_chunks();
    peer.chunk(event("ADDED", pod("a", 5)));
    peer.chunk(bookmark(7, true));
    peer.wait_for_close();
  });

  ASSERT_TRUE(until([this] { return reflector_->is_synced(); }));

  const std::string asked = server_->asked().front();
  EXPECT_THAT(asked,
              AllOf(HasSubstr("GET /api/v1/pods?"), HasSubstr("watch=true"),
                    HasSubstr("sendInitialEvents=true"), HasSubstr("allowWatchBookmarks=true"),
                    HasSubstr("resourceVersionMatch=NotOlderThan"), HasSubstr("timeoutSeconds=300"),
                    HasSubstr("fieldSelector=spec.nodeName%3Dnode-1")));
  EXPECT_TRUE(has("a"));
}

TEST_F(Reflector_, ShowsNothingOfAListBeforeItsEnd) {
  std::atomic<bool> may_end = false;
  follow([&](Peer& peer, const RawRequest&) {
    peer.begin_chunks();
    peer.chunk(event("ADDED", pod("a", 5)));
    while (!may_end) std::this_thread::yield();
    peer.chunk(bookmark(7, true));
    peer.wait_for_close();
  });

  ASSERT_TRUE(until([this] { return reflector_->counters().streams == 1; }));
  EXPECT_FALSE(reflector_->is_synced());
  EXPECT_EQ(store_.size(), 0u);
  may_end = true;

  EXPECT_TRUE(until([this] { return has("a"); }));
}

TEST_F(Reflector_, FollowsWhatHappens) {
  follow([](Peer& peer, const RawRequest&) {
    peer.begin_chunks();
    peer.chunk(event("ADDED", pod("a", 5)) + event("ADDED", pod("b", 6)) + bookmark(7, true));
    peer.chunk(event("MODIFIED", pod("a", 8)) + event("DELETED", pod("b", 9)));
    peer.chunk(event("ADDED", pod("c", 10)));
    peer.wait_for_close();
  });

  ASSERT_TRUE(until([this] { return has("c"); }));

  EXPECT_EQ(version_of("a"), "8");
  EXPECT_FALSE(has("b"));
}

// 03, 12, row 102.
TEST_F(Reflector_, ReadsPagesWhereStreamedListsAreRefused) {
  follow([](Peer& peer, const RawRequest& request) {
    if (wants_initial(request)) {
      peer.answer(422, R"({"kind":"Status","code":422,"reason":"Invalid","message":"forbidden"})");
    } else if (is_watch(request)) {
      peer.begin_chunks();
      peer.wait_for_close();
    } else if (request.target().find("continue=") == std::string::npos) {
      peer.answer(200, list_of({pod("a", 1), pod("b", 2)}, 9, "next/page"));
    } else {
      peer.answer(200, list_of({pod("c", 3)}, 9));
    }
  });

  ASSERT_TRUE(until([this] { return server_->asked().size() == 4; }));

  const auto asked = server_->asked();
  EXPECT_THAT(asked[1], AllOf(HasSubstr("limit=2&resourceVersion=0"), Not(HasSubstr("watch"))));
  EXPECT_THAT(asked[2],
              AllOf(HasSubstr("continue=next%2Fpage"), Not(HasSubstr("resourceVersion"))));
  EXPECT_THAT(asked[3], AllOf(HasSubstr("watch=true"), HasSubstr("resourceVersion=9")));
  EXPECT_EQ(store_.size(), 3u);
}

TEST_F(Reflector_, DoesNotFollowAListWithoutEnd) {
  follow_fast(2, [](Peer& peer, const RawRequest& request) {
    if (wants_initial(request)) {
      peer.answer(422, R"({"kind":"Status","code":422,"reason":"Invalid","message":"forbidden"})");
    } else {
      peer.answer(200, list_of({}, 9, "again"));
    }
  });

  EXPECT_TRUE(until_still(2)) << "it asks without pauses";
}

// An etcd without progress requests: seen with 3.4 behind a kube-apiserver 1.34.
TEST_F(Reflector_, ReadsPagesWhenTheStreamedListEndsInAnErrorOfTheServer) {
  follow([](Peer& peer, const RawRequest& request) {
    if (wants_initial(request)) {
      peer.begin_chunks();
      peer.chunk(
          event("ERROR", R"({"kind":"Status","code":500,"message":"progress is disabled"})"));
      peer.end_chunks();
    } else if (is_watch(request)) {
      peer.begin_chunks();
      peer.wait_for_close();
    } else {
      peer.answer(200, list_of({pod("a", 1)}, 9));
    }
  });

  EXPECT_TRUE(until([this] { return has("a"); }));
}

// 03, 12, row 103.
TEST_F(Reflector_, ReadsPagesWhenTheEndOfTheStreamedListNeverComes) {
  settings_.initial_silence = 50ms;
  follow([](Peer& peer, const RawRequest& request) {
    if (wants_initial(request)) {
      peer.begin_chunks();
      peer.chunk(event("ADDED", pod("x", 1)));
      peer.wait_for_close();
    } else if (is_watch(request)) {
      peer.begin_chunks();
      peer.wait_for_close();
    } else {
      peer.answer(200, list_of({pod("a", 1)}, 9));
    }
  });

  ASSERT_TRUE(until([this] { return has("a"); }));
  EXPECT_FALSE(has("x"));
}

// 03, 12, rows 104 and 105: HTTP 410, and the ERROR event.
TEST_F(Reflector_, StartsOverWhenItsPositionIsTooOldAndServesTheOldMeanwhile) {
  std::atomic<int> lists = 0;
  std::atomic<bool> may_answer = false;
  follow([&](Peer& peer, const RawRequest& request) {
    if (!wants_initial(request)) {
      peer.answer(410, R"({"kind":"Status","code":410,"reason":"Expired","message":"too old"})");
      return;
    }
    peer.begin_chunks();
    if (++lists == 1) {
      peer.chunk(event("ADDED", pod("a", 5)) + event("ADDED", pod("b", 6)) + bookmark(7, true));
      peer.end_chunks();
      return;
    }
    while (!may_answer) std::this_thread::yield();
    peer.chunk(event("ADDED", pod("b", 16)) + bookmark(17, true));
    peer.wait_for_close();
  });

  ASSERT_TRUE(until([&] { return lists == 2; }));
  EXPECT_TRUE(has("a"));
  EXPECT_TRUE(has("b"));
  may_answer = true;

  ASSERT_TRUE(until([this] { return version_of("b") == "16"; }));
  EXPECT_FALSE(has("a"));
  EXPECT_TRUE(reflector_->is_synced());
}

TEST_F(Reflector_, StartsOverOnAnErrorEventThatSaysGone) {
  std::atomic<int> lists = 0;
  follow([&](Peer& peer, const RawRequest& request) {
    peer.begin_chunks();
    if (wants_initial(request) && ++lists == 1) {
      peer.chunk(event("ADDED", pod("a", 5)) + bookmark(7, true) + gone_event());
      peer.end_chunks();
      return;
    }
    peer.chunk(event("ADDED", pod("b", 8)) + bookmark(9, true));
    peer.wait_for_close();
  });

  ASSERT_TRUE(until([this] { return has("b"); }));
  EXPECT_FALSE(has("a"));
}

TEST_F(Reflector_, ReadsTheNewestListWhenAPagesTokenExpires) {
  std::atomic<bool> has_expired = false;
  follow([&](Peer& peer, const RawRequest& request) {
    const bool is_first = request.target().find("resourceVersion=0") != std::string::npos;
    if (wants_initial(request)) {
      peer.answer(400, "{}");
    } else if (is_watch(request)) {
      peer.begin_chunks();
      peer.wait_for_close();
    } else if (request.target().find("continue=") != std::string::npos && !has_expired) {
      has_expired = true;
      peer.answer(410, R"({"kind":"Status","code":410,"reason":"Expired"})");
    } else if (is_first) {
      peer.answer(200, list_of({pod("old", 1)}, 9, "token"));
    } else {
      peer.answer(200, list_of({pod("a", 1)}, 12));
    }
  });

  ASSERT_TRUE(until([this] { return has("a"); }));
  EXPECT_FALSE(has("old"));
}

// A server that has no room for history says so after each list: 12,927 of them in three seconds.
TEST_F(Reflector_, PausesLongerAndLongerWhileEachStreamedListIsForgottenAtOnce) {
  follow_fast(6, [](Peer& peer, const RawRequest&) {
    peer.begin_chunks();
    peer.chunk(event("ADDED", pod("a", 5)) + bookmark(7, true) + gone_event());
    peer.end_chunks();
  });

  ASSERT_TRUE(until_still(6));

  EXPECT_THAT(timer_->waits(), ElementsAre(800ms, 1600ms, 3200ms, 6400ms, 12800ms, 15s, 15s));
  EXPECT_EQ(reflector_->counters().lists, 7u);
  EXPECT_TRUE(has("a"));
}

TEST_F(Reflector_, PausesLongerAndLongerWhileEachListInPagesIsForgottenAtOnce) {
  std::atomic<int> lists = 0;
  follow_fast(3, [&](Peer& peer, const RawRequest& request) {
    if (wants_initial(request)) return peer.answer(422, "{}");
    if (is_watch(request)) return peer.answer(410, kGone);
    answer_list(peer, ++lists);
  });

  ASSERT_TRUE(until_still(3));

  EXPECT_THAT(timer_->waits(), ElementsAre(800ms, 1600ms, 3200ms, 6400ms));
  EXPECT_EQ(lists, 4);
}

TEST_F(Reflector_, PausesAfterThePositionIsForgottenEvenIfTheWatchHasBroughtEvents) {
  std::atomic<int> streams = 0;
  follow_fast(3, [&](Peer& peer, const RawRequest&) {
    const int number = ++streams;
    peer.begin_chunks();
    peer.chunk(bookmark(number * 10, true) + event("ADDED", pod("a", number * 10 + 1)));
    peer.chunk(gone_event());
    peer.end_chunks();
  });

  ASSERT_TRUE(until_still(3));

  EXPECT_THAT(timer_->waits(), ElementsAre(800ms, 1600ms, 3200ms, 6400ms));
}

// Where a load balancer cuts each watch, none lives for two minutes.
TEST_F(Reflector_, ForgetsItsFailuresAfterWatchesThatWereHealthyTogether) {
  settings_.healthy = 40ms;
  std::atomic<int> requests = 0;
  follow_fast(100, [&](Peer& peer, const RawRequest& request) {
    const int number = ++requests;
    if (number == 1 || number == 15) return peer.answer(500, "{}");
    peer.begin_chunks();
    if (wants_initial(request)) peer.chunk(bookmark(1, true));
    std::this_thread::sleep_for(10ms);
    peer.hang_up();
  });

  ASSERT_TRUE(until([&] { return requests > 15; }));

  std::vector<std::chrono::milliseconds> pauses = timer_->waits();
  std::erase(pauses, 0ms);  // before a watch resumes
  EXPECT_THAT(pauses, ElementsAre(800ms, 800ms));
}

TEST_F(Reflector_, ForgetsItsFailuresAfterAHealthyWatch) {
  settings_.healthy = 0ms;
  follow_fast(3, [](Peer& peer, const RawRequest&) {
    peer.begin_chunks();
    peer.chunk(bookmark(7, true) + gone_event());
    peer.end_chunks();
  });

  ASSERT_TRUE(until_still(3));

  EXPECT_THAT(timer_->waits(), Each(800ms));
}

// After an outage the server has mostly forgotten our position: this is not a second outage.
TEST_F(Reflector_, ListsSoonAgainWhenTheServerIsBackAndHasForgottenThePosition) {
  std::atomic<int> requests = 0;
  follow_fast(9, [&](Peer& peer, const RawRequest& request) {
    const int number = ++requests;
    if (number > 1 && number < 9) return peer.answer(503, "{}");
    if (!wants_initial(request)) return peer.answer(410, kGone);
    peer.begin_chunks();
    peer.chunk(event("ADDED", pod(cat("p", number), number)) + bookmark(number, true));
    if (number > 1) return peer.wait_for_close();
    peer.end_chunks();
  });

  ASSERT_TRUE(until([this] { return has("p10"); }));

  std::vector<std::chrono::milliseconds> pauses = timer_->waits();
  std::erase(pauses, 0ms);  // before a watch resumes
  EXPECT_THAT(pauses, ElementsAre(800ms, 1600ms, 3200ms, 6400ms, 12800ms, 15s, 15s, 800ms));
}

// A server whose memory is behind, after a fail-over, must not take us back in time.
TEST_F(Reflector_, AsksForNoStreamedListThatIsOlderThanWhatItHasSeen) {
  std::atomic<int> requests = 0;
  follow_fast(4, [&](Peer& peer, const RawRequest&) {
    const int number = ++requests;
    if (number == 3) return peer.answer(504, kTooLarge);  // it does not know 21 (yet)
    if (number == 4) return peer.answer(410, kGone);
    peer.begin_chunks();
    peer.chunk(bookmark(number * 10, true) + event("ADDED", pod("a", number * 10 + 1)));
    peer.chunk(gone_event());
    peer.end_chunks();
  });

  ASSERT_TRUE(until_still(4));

  EXPECT_THAT(queries(), ElementsAre(kInitial, cat(kInitial, "&resourceVersion=11"),
                                     cat(kInitial, "&resourceVersion=21"),
                                     kInitial,  // the newest there is
                                     kInitial));
}

TEST_F(Reflector_, AsksForNoListInPagesThatIsOlderThanWhatItHasSeen) {
  std::atomic<int> lists = 0;
  follow_fast(4, [&](Peer& peer, const RawRequest& request) {
    if (wants_initial(request)) return peer.answer(422, "{}");
    if (is_watch(request)) return peer.answer(410, kGone);
    const int number = ++lists;
    if (number == 3) return peer.answer(504, kTooLarge);
    answer_list(peer, number);
  });

  ASSERT_TRUE(until_still(4));

  EXPECT_THAT(queries(), ElementsAre(kInitial,                        // refused
                                     "limit=2&resourceVersion=0",     // anything will do
                                     "watch=true&resourceVersion=9",  // forgotten
                                     "resourceVersion=9&resourceVersionMatch=NotOlderThan",
                                     "watch=true&resourceVersion=10",
                                     "resourceVersion=10&resourceVersionMatch=NotOlderThan",
                                     "limit=2",  // that is not to be had: what storage has
                                     "watch=true&resourceVersion=12",
                                     "resourceVersion=12&resourceVersionMatch=NotOlderThan",
                                     "watch=true&resourceVersion=13"));
}

// Without a cache all comes from storage, and then better in pages.
TEST_F(Reflector_, KeepsPagesWhereEvenTheFirstListCameInPages) {
  follow_fast(1, [](Peer& peer, const RawRequest& request) {
    if (wants_initial(request)) return peer.answer(422, "{}");
    if (is_watch(request)) return peer.answer(410, kGone);
    const bool is_rest = request.target().find("continue=") != std::string::npos;
    peer.answer(200, list_of({pod(is_rest ? "b" : "a", 1)}, 9, is_rest ? "" : "next"));
  });

  ASSERT_TRUE(until_still(1));

  EXPECT_THAT(queries(), ElementsAre(kInitial, "limit=2&resourceVersion=0", "limit=2&continue=next",
                                     "watch=true&resourceVersion=9",
                                     "limit=2&resourceVersion=9&resourceVersionMatch=NotOlderThan",
                                     "limit=2&continue=next", "watch=true&resourceVersion=9"));
}

// Paging that takes longer than the server remembers would take as long the next time.
TEST_F(Reflector_, ReadsTheWholeListAfterAPauseWhenAPagesTokenExpires) {
  follow_fast(1, [](Peer& peer, const RawRequest& request) {
    if (wants_initial(request)) return peer.answer(422, "{}");
    if (is_watch(request)) return peer.answer(410, kGone);
    if (request.target().find("continue=") != std::string::npos) return peer.answer(410, kGone);
    const bool is_whole = request.target().find("limit=0") != std::string::npos;
    peer.answer(200, list_of({pod("a", 1)}, 9, is_whole ? "" : "token"));
  });

  ASSERT_TRUE(until_still(1));

  EXPECT_THAT(queries(),
              ElementsAre(kInitial, "limit=2&resourceVersion=0", "limit=2&continue=token",
                          "limit=0", "watch=true&resourceVersion=9"));
  EXPECT_THAT(timer_->waits(), ElementsAre(800ms, 1600ms));
}

// 03, 12, row 106. Load balancers cut what is idle for longer than they like.
TEST_F(Reflector_, ResumesFromItsLastPositionWhenAWatchIsCutAndDoesNotCallItAFailure) {
  settings_.first_pause = settings_.longest_pause = 1h;  // a pause would be seen
  std::atomic<int> streams = 0;
  follow([&](Peer& peer, const RawRequest& request) {
    const int number = ++streams;
    peer.begin_chunks();
    if (wants_initial(request)) {
      peer.chunk(event("ADDED", pod("a", 1)) + bookmark(1, true));
    } else if (resumes_at(request, number - 1)) {
      peer.chunk(event("MODIFIED", pod("a", number)));
    }
    peer.send("ffff\r\n{\"type\":\"ADD");  // in the middle of an object
    peer.hang_up();
  });

  ASSERT_TRUE(until([this] { return version_of("a") == "6"; }));

  EXPECT_EQ(reflector_->counters().lists, 1u);
  EXPECT_EQ(reflector_->counters().failures, 0u);
}

// A load balancer that restarts cuts the watches of all nodes at once.
TEST_F(Reflector_, ResumesAfterAnyTimeUpToASecond) {
  random_ = [n = 0]() mutable { return 0.25 * static_cast<double>(++n % 4); };
  follow_fast(3, [](Peer& peer, const RawRequest& request) {
    peer.begin_chunks();
    if (wants_initial(request)) peer.chunk(bookmark(1, true));
    peer.hang_up();
  });

  ASSERT_TRUE(until_still(3));

  // Every second number is for timeoutSeconds.
  EXPECT_THAT(timer_->waits(), ElementsAre(500ms, 0ms, 500ms, 0ms));
}

TEST_F(Reflector_, PausesLongerAndLongerWhileEachWatchIsCutAtOnce) {
  settings_.shortest = 1h;
  follow_fast(3, [](Peer& peer, const RawRequest& request) {
    peer.begin_chunks();
    if (wants_initial(request)) peer.chunk(bookmark(1, true));
    peer.hang_up();
  });

  ASSERT_TRUE(until_still(3));

  EXPECT_THAT(timer_->waits(), ElementsAre(800ms, 1600ms, 3200ms, 6400ms));
  EXPECT_EQ(reflector_->counters().lists, 1u);
}

// A list is not cheap: where each is cut, the server is to be spared.
TEST_F(Reflector_, PausesLongerAndLongerWhileEachStreamedListIsCut) {
  follow_fast(3, [](Peer& peer, const RawRequest&) {
    peer.begin_chunks();
    peer.chunk(event("ADDED", pod("a", 1)));
    peer.send("ffff\r\n{");
    peer.hang_up();
  });

  ASSERT_TRUE(until_still(3));

  EXPECT_THAT(timer_->waits(), ElementsAre(800ms, 1600ms, 3200ms, 6400ms));
}

TEST_F(Reflector_, GoesOnWithoutAPauseWhenAWatchEndsByItself) {
  settings_.first_pause = settings_.longest_pause = 1h;  // a pause would be seen
  std::atomic<int> streams = 0;
  follow([&](Peer& peer, const RawRequest& request) {
    const int number = ++streams;
    peer.begin_chunks();
    peer.chunk(wants_initial(request) ? bookmark(1, true) : event("ADDED", pod("a", number)));
    if (number == 4) peer.wait_for_close();
    peer.end_chunks();
  });

  EXPECT_TRUE(until([this] { return version_of("a") == "4"; }));
}

// Aggregated APIs may have no versions; what was deleted meanwhile only another list tells.
TEST_F(Reflector_, ListsAgainAfterEachWatchWhereTheApiHasNoVersions) {
  std::atomic<int> lists = 0;
  follow_fast(2, [&](Peer& peer, const RawRequest& request) {
    if (wants_initial(request)) return peer.answer(422, "{}");
    if (!is_watch(request)) {
      const std::string_view name = ++lists == 1 ? "first" : "second";
      return peer.answer(
          200, cat(R"({"kind":"PodList","metadata":{},"items":[{"metadata":{"name":")", name,
                   R"(","namespace":"default"}}]})"));
    }
    peer.begin_chunks();
    peer.chunk(R"({"type":"ADDED","object":{"metadata":{"name":"new","namespace":"default"}}})"
               "\n");
    peer.hang_up();
  });

  ASSERT_TRUE(until_still(2));

  EXPECT_EQ(lists, 3);
  EXPECT_FALSE(has("first"));
  EXPECT_TRUE(has("second"));
  EXPECT_EQ(reflector_->counters().skipped, 0u);
}

TEST_F(Reflector_, TakesItsPositionFromBookmarks) {
  follow([&](Peer& peer, const RawRequest& request) {
    peer.begin_chunks();
    if (wants_initial(request)) {
      peer.chunk(bookmark(1, true) + bookmark(50));
      peer.end_chunks();
      return;
    }
    if (resumes_at(request, 50)) peer.chunk(event("ADDED", pod("a", 51)));
    peer.wait_for_close();
  });

  EXPECT_TRUE(until([this] { return has("a"); }));
}

// 03, 5.4 rule 6.
TEST_F(Reflector_, SkipsAnObjectThatCannotBeReadTwice) {
  std::atomic<int> streams = 0;
  follow([&](Peer& peer, const RawRequest& request) {
    ++streams;
    peer.begin_chunks();
    if (wants_initial(request)) peer.chunk(bookmark(1, true));
    peer.chunk("{\"type\":\"ADDED\",\"object\":{\"metadata\":{}}}\n");
    peer.chunk(event("ADDED", pod("behind", 3)));
    peer.wait_for_close();
  });

  ASSERT_TRUE(until([this] { return has("behind"); }));

  EXPECT_EQ(streams, 2);
  EXPECT_EQ(reflector_->counters().skipped, 1u);
}

// A list that was read meanwhile shows that the first one was damage on the way.
TEST_F(Reflector_, ReadsAListOnceMoreEachTimeThatItsBytesAreDamaged) {
  std::atomic<int> lists = 0;
  follow([&](Peer& peer, const RawRequest&) {
    const int list = ++lists;
    const bool is_damaged = list == 1 || list == 3;
    peer.begin_chunks();
    peer.chunk(is_damaged ? "{\"type\":\"ADDED\",\"object\":{\"metadata\":{}}}\n"
                          : event("ADDED", pod("a", list)));
    peer.chunk(bookmark(list, true));
    if (list == 2) peer.chunk(gone_event());
    peer.wait_for_close();
  });

  ASSERT_TRUE(until([&] { return version_of("a") == "4"; }));

  EXPECT_EQ(lists, 4);
  EXPECT_EQ(reflector_->counters().skipped, 0u);
}

TEST_F(Reflector_, NamesTheObjectsThatItSkips) {
  constexpr std::string_view kOdd = R"({"metadata":{"namespace":"default","name":"odd","uid":5}})";
  follow([&](Peer& peer, const RawRequest& request) {
    if (wants_initial(request)) return peer.answer(422, "{}");
    if (!is_watch(request)) return peer.answer(200, list_of({std::string(kOdd)}, 1));
    peer.begin_chunks();
    peer.chunk(event("ADDED", kOdd) + event("ADDED", pod("behind", 3)));
    peer.wait_for_close();
  });

  ASSERT_TRUE(until([this] { return has("behind"); }));

  EXPECT_THAT(log_->lines(),
              ElementsAre(AllOf(HasSubstr("default/odd: "), HasSubstr("of the list")),
                          HasSubstr("default/odd: "), HasSubstr("skipped: default/odd: ")));
}

// Each may have another fault, and a server may send any number of them.
TEST_F(Reflector_, TellsOfSkippedEventsOnceAMinute) {
  follow([&](Peer& peer, const RawRequest& request) {
    peer.begin_chunks();
    if (wants_initial(request)) peer.chunk(bookmark(1, true));
    std::string broken;
    for (std::size_t i = 0; i < 100; ++i) broken += cat(std::string(i, ' '), "{x\n");
    peer.chunk(broken + event("ADDED", pod("behind", 3)));
    peer.wait_for_close();
  });

  ASSERT_TRUE(until([this] { return has("behind"); }));

  EXPECT_EQ(reflector_->counters().skipped, 100u);
  EXPECT_THAT(log_->lines(), SizeIs(2)) << log_->text();
}

TEST_F(Reflector_, SkipsAnEventThatIsTooLarge) {
  follow([&](Peer& peer, const RawRequest& request) {
    peer.begin_chunks();
    if (wants_initial(request)) peer.chunk(bookmark(1, true));
    peer.chunk(std::string(kMaxFrame + 10, 'x'));
    peer.chunk("x\n" + event("ADDED", pod("behind", 3)));
    peer.wait_for_close();
  });

  ASSERT_TRUE(until([this] { return has("behind"); }));
  EXPECT_EQ(reflector_->counters().skipped, 1u);
}

// 03, 12, row 108.
TEST_F(Reflector_, WaitsAsLongAsTheServerAsks) {
  std::atomic<std::chrono::steady_clock::time_point> refused{};
  std::atomic<std::chrono::steady_clock::duration> waited{};
  follow([&](Peer& peer, const RawRequest&) {
    const auto now = std::chrono::steady_clock::now();
    if (refused.load() == std::chrono::steady_clock::time_point()) {
      refused = now;
      peer.answer(429, "{}", "Retry-After: 1\r\n");
      return;
    }
    waited = now - refused.load();
    peer.begin_chunks();
    peer.chunk(bookmark(1, true));
    peer.wait_for_close();
  });

  ASSERT_TRUE(until([this] { return reflector_->is_synced(); }));
  EXPECT_GE(waited.load(), 1s);
}

// 03, 12, row 119: the kind comes later.
TEST_F(Reflector_, KeepsTryingWhileTheKindIsNotThere) {
  std::atomic<int> requests = 0;
  follow([&](Peer& peer, const RawRequest&) {
    if (++requests < 4) {
      peer.answer(404, "404 page not found\n");
      return;
    }
    peer.begin_chunks();
    peer.chunk(event("ADDED", pod("a", 1)) + bookmark(1, true));
    peer.wait_for_close();
  });

  EXPECT_TRUE(until([this] { return has("a"); }));
}

TEST_F(Reflector_, TellsHowLongNoStreamHasBeenUp) {
  std::atomic<bool> is_up = false;
  follow([&](Peer& peer, const RawRequest&) {
    if (!is_up) {
      peer.answer(500, "{}");
      return;
    }
    peer.begin_chunks();
    peer.chunk(bookmark(1, true));
    peer.wait_for_close();
  });

  ASSERT_TRUE(until([this] { return reflector_->counters().failures > 1; }));
  EXPECT_TRUE(reflector_->down_for().has_value());
  is_up = true;

  ASSERT_TRUE(until([this] { return reflector_->is_synced(); }));
  EXPECT_FALSE(reflector_->down_for().has_value());
}

TEST_F(Reflector_, IsDownWhileItWaitsForAnswers) {
  std::atomic<bool> is_cut = false;
  follow([&](Peer& peer, const RawRequest& request) {
    if (wants_initial(request)) {
      peer.begin_chunks();
      peer.chunk(bookmark(1, true));
      peer.end_chunks();
      return;
    }
    is_cut = true;
    peer.wait_for_close();
  });

  ASSERT_TRUE(until([&] { return is_cut.load(); }));
  EXPECT_TRUE(reflector_->down_for().has_value());
  EXPECT_LT(reflector_->silent_for(), 20s);
}

TEST_F(Reflector_, MakesASilentWatchAnew) {
  settings_.silence = 50ms;
  std::atomic<int> streams = 0;
  follow([&](Peer& peer, const RawRequest& request) {
    ++streams;
    peer.begin_chunks();
    if (wants_initial(request)) peer.chunk(bookmark(1, true));
    peer.wait_for_close();
  });

  EXPECT_TRUE(until([&] { return streams >= 3; }));
  EXPECT_EQ(reflector_->counters().lists, 1u);
}

// 03, 8.1: connections of the old certificate are closed; the place in the stream is kept.
TEST(Reflector, GoesOnUnderANewCertificateWhereItWas) {
  aio::asio::io_context loop;  // outlives the connections
  const http::TestAuthority authority;
  std::mutex mutex;
  std::vector<std::string> asked;  // `<who> <where>`
  std::atomic<bool> is_rotated = false;
  const http::ScriptedServer server(
      [&](Peer& peer) {
        while (const auto request = peer.read_request()) {
          {
            const std::lock_guard lock(mutex);
            asked.push_back(cat(peer.client_name(), " ", request->target()));
          }
          peer.begin_chunks();
          if (wants_initial(*request)) {
            peer.chunk(bookmark(7, true));
            is_rotated.wait(false);
            peer.chunk(bookmark(8));
          }
          peer.wait_for_close();
        }
      },
      http::ScriptedServer::Tls{authority.sign("s", "IP:127.0.0.1"), authority.pem()});
  const http::Identity first = authority.sign("first", ""), second = authority.sign("second", "");
  const http::Identity* in_use = &first;
  Config config{.server = cat("https://127.0.0.1:", server.port())};
  config.ca.data = authority.pem();
  config.certificate.source = [&] { return Result<std::string>(in_use->certificate); };
  config.key.source = [&] { return Result<std::string>(in_use->key); };
  ApiSettings settings;
  settings.credentials.file_age = 0ms;
  const auto api = *Api::make(config, settings, Log());
  Store<model::PodObject> store(&parse_stored_pod);
  Reflector reflector(*api, {.path = "/api/v1/pods", .shortest = 0ms}, store, Log());
  aio::Group group(loop.get_executor(), Log());
  group.spawn("reflector", reflector.run());
  EXPECT_TRUE(drive(loop, [&] { return reflector.is_synced(); }));

  in_use = &second;
  is_rotated = true;
  is_rotated.notify_all();

  EXPECT_TRUE(drive(loop, [&] { return reflector.counters().streams == 2; }));
  group.cancel();
  EXPECT_TRUE(aio::run(loop, group.join()).has_value());
  const std::lock_guard lock(mutex);
  EXPECT_THAT(
      asked, ElementsAre(HasSubstr("first /api/v1/pods"),
                         AllOf(HasSubstr("second /api/v1/pods"), HasSubstr("&resourceVersion=8"))));
  EXPECT_EQ(reflector.counters().lists, 1u);
}

TEST(Store, WakesThoseWhoWaitForAChange) {
  aio::asio::io_context loop;
  Store<model::PodObject> store(&parse_stored_pod);
  aio::Group group(loop.get_executor(), Log());
  bool is_woken = false;
  auto wait = [](Store<model::PodObject>* in, bool* flag) -> aio::Task<void> {
    auto changed = co_await in->wait_changed(aio::kNoDeadline);
    *flag = changed.has_value();
    co_return changed;
  };
  group.spawn("wait", wait(&store, &is_woken));
  loop.poll();

  ASSERT_TRUE(store.change(EventType::kAdded, *json::parse_object(pod("a", 1))).has_value());

  EXPECT_TRUE(drive(loop, [&] { return is_woken; }));
}

TEST(Store, TellsOfChangesByKey) {
  Store<model::PodObject> store(&parse_stored_pod);
  std::vector<std::string> told;
  store.observe([&](const auto& before, const auto& now) {
    told.push_back(
        cat(before == nullptr ? "-" : before->uid, " ", now == nullptr ? "-" : now->uid));
  });
  const auto pod = [](std::string_view name, std::string_view uid) {
    return json::parse_object(
               cat(R"({"metadata":{"namespace":"n","name":")", name, R"(","uid":")", uid, R"("}})"))
        .value();
  };

  ASSERT_TRUE(store.change(EventType::kAdded, pod("a", "1")).has_value());
  ASSERT_TRUE(store.change(EventType::kModified, pod("a", "2")).has_value());
  store.begin();
  ASSERT_TRUE(store.add(pod("b", "3")).has_value());
  store.commit();
  ASSERT_TRUE(store.change(EventType::kDeleted, pod("b", "3")).has_value());

  EXPECT_THAT(told, testing::ElementsAre("- 1", "1 2", "- 3", "2 -", "3 -"));
}

// The object of a pod at `version` in `phase`, whose annotation asks for `networks`.
json::Object pod_in(std::string_view phase, std::string_view version,
                    std::string_view networks = "a network with a long name") {
  return json::parse_object(cat(R"({"metadata":{"namespace":"n","name":"a","resourceVersion":")",
                                version, R"(","annotations":{"k8s.v1.cni.cncf.io/networks":")",
                                networks, R"("}},"status":{"phase":")", phase, R"("}})"))
      .value();
}

TEST(Store, LeavesAPodWhereItIsWhenOnlyItsStateChanges) {
  Store<model::PodObject> store(&parse_stored_pod);
  std::vector<model::PodPhase> told;
  ASSERT_TRUE(store.change(EventType::kAdded, pod_in("Pending", "1")).has_value());
  const model::PodObject* const place = store.find("n", "a").get();
  store.observe([&](const auto& before, const auto& now) {
    told = {before->phase, now->phase};
    EXPECT_EQ(before->annotations, now->annotations);
  });

  ASSERT_TRUE(store.change(EventType::kModified, pod_in("Running", "2")).has_value());

  EXPECT_EQ(store.find("n", "a").get(), place);
  EXPECT_EQ(store.find("n", "a")->resource_version, "2");
  EXPECT_THAT(told, testing::ElementsAre(model::PodPhase::kPending, model::PodPhase::kRunning));
}

TEST(Store, NeverChangesAPodThatIsInOtherHands) {
  Store<model::PodObject> store(&parse_stored_pod);
  ASSERT_TRUE(store.change(EventType::kAdded, pod_in("Pending", "1")).has_value());
  const auto held = store.find("n", "a");

  ASSERT_TRUE(store.change(EventType::kModified, pod_in("Running", "2")).has_value());

  EXPECT_EQ(held->resource_version, "1");
  EXPECT_EQ(held->phase, model::PodPhase::kPending);
  EXPECT_EQ(store.find("n", "a")->resource_version, "2");
}

TEST(Store, TakesAllThatIsNewOfAPod) {
  Store<model::PodObject> store(&parse_stored_pod);
  ASSERT_TRUE(store.change(EventType::kAdded, pod_in("Running", "1")).has_value());

  ASSERT_TRUE(store.change(EventType::kModified, pod_in("Running", "2", "another")).has_value());

  EXPECT_EQ(*store.find("n", "a")->annotation(model::kNetworksAnnotation), "another");
  EXPECT_EQ(store.find("n", "a")->resource_version, "2");
}

}  // namespace
}  // namespace mnet::kube
