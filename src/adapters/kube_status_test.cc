// Network statuses against a server that says exactly what the test wants; tests/cluster has the
// real one.
#include "adapters/kube_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/kube_pod_fixture.h"
#include "aio/fake_timer.h"
#include "aio/run.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/test_log.h"
#include "base/text.h"
#include "http/scripted_server.h"
#include "kube/fake_api.h"
#include "kube/kube.h"

namespace mnet::adapters {
namespace {

using namespace std::chrono_literals;
using http::Peer;
using http::RawRequest;
using testing::AllOf;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

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
  EXPECT_TRUE(aio::run(loop, status.write(asking_pod(), "[1]", Log())).has_value());
  EXPECT_TRUE(aio::run(loop, status.write(asking_pod(), "[2]", Log())).has_value());
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

  const auto first = aio::run(loop, status.write(asking_pod(), "[1]", Log()));
  const auto second = aio::run(loop, status.write(asking_pod(), "[1]", Log()));

  ASSERT_FALSE(first.has_value());
  EXPECT_EQ(first.error().code(), Errc::kDenied);
  EXPECT_FALSE(second.has_value());
  EXPECT_THAT(methods(server), ElementsAre("PATCH", "GET", "PUT", "PATCH", "GET", "PUT"));
}

constexpr std::string_view kVersionedPod =
    R"({"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7"}})";

// 05, 4: row 41
TEST(KubeStatus, EditsWhatIsThereNowAndAgainIfAnotherClientWrote) {
  for (const bool may_patch : {true, false}) {
    aio::asio::io_context loop;  // outlives the connections
    int writes = 0;
    std::string body;
    const kube::FakeApi server([&](Peer& peer, const RawRequest& request) {
      if (request.method() == "GET") return peer.answer(200, kVersionedPod);
      if (request.method() == "PATCH" && !may_patch) return peer.answer(403, "{}");
      body = request.body;
      peer.answer(++writes <= 2 ? 409 : 200, kPlainPod);
    });
    const auto api = server.client();
    KubeStatus status(*api, Log());
    int edits = 0;
    const auto edit = [&edits](const std::optional<std::string>&) {
      ++edits;
      return Result<std::optional<std::string>>(std::optional<std::string>("[1]"));
    };

    const auto written = aio::run(loop, status.edit(asking_pod(), edit));

    EXPECT_TRUE(written.has_value());
    EXPECT_EQ(edits, may_patch ? 3 : 6);  // to be put it is read once more, whole
    EXPECT_EQ(writes, 3);
    EXPECT_THAT(body, HasSubstr("resourceVersion"));
  }
}

TEST(KubeStatus, WritesNothingWhereNothingIsToChange) {
  aio::asio::io_context loop;  // outlives the connections
  const kube::FakeApi server(answer_as_upstreams_role);
  const auto api = server.client();
  KubeStatus status(*api, Log());

  const auto written =
      aio::run(loop, status.edit(asking_pod(), [](const std::optional<std::string>&) {
        return Result<std::optional<std::string>>(std::optional<std::string>());
      }));

  EXPECT_TRUE(written.has_value());
  EXPECT_THAT(methods(server), ElementsAre("GET"));
}

// Whatever a pod's author fills its object with: several are edited at the same time.
TEST(KubeStatus, EditsTheStatusOfAPodWithoutBuildingTheRestOfIt) {
  aio::asio::io_context loop;  // outlives the connections
  std::string arguments = "0";
  for (int i = 0; i < 200'000; ++i) arguments += ",0";
  const std::string pod =
      cat(R"({"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7",)",
          R"("annotations":{"k8s.v1.cni.cncf.io/network-status":"[0]"}},)",
          R"("spec":{"containers":[{"args":[)", arguments, "]}]}}");
  const kube::FakeApi server(
      [&pod](Peer& peer, const RawRequest&) { return peer.answer(200, pod); });
  const auto api = server.client();
  KubeStatus status(*api, Log());
  std::string before;
  const auto edit = [&before](const std::optional<std::string>& text) {
    before = text.value_or("none");
    return Result<std::optional<std::string>>(std::optional<std::string>("[1]"));
  };

  const auto written = aio::run(loop, status.edit(asking_pod(), edit));

  EXPECT_TRUE(written.has_value()) << written.error().text();
  EXPECT_EQ(before, "[0]");
  EXPECT_THAT(methods(server), ElementsAre("GET", "PATCH"));
  const auto found = aio::run(loop, status.find(asking_pod()));
  EXPECT_EQ(found.value(), "[0]");
}

// Where only whole objects may be put back, large ones take turns and small ones do not wait.
TEST(KubeStatus, PutsLargeObjectsBackOneAtATime) {
  aio::asio::io_context loop;  // outlives the connections
  const std::string large =
      cat(R"({"metadata":{"name":"a","namespace":"n","uid":"u","annotations":{"x":")",
          std::string(100'000, 'x'), R"("}}})");
  const kube::FakeApi server([&large](Peer& peer, const RawRequest& request) {
    peer.answer(request.method() == "PATCH" ? 403 : 200, large);
  });
  const auto api = server.client();
  KubeStatus status(*api, Log());

  EXPECT_TRUE(aio::run(loop, status.write(asking_pod(), "[1]", Log())).has_value());

  EXPECT_THAT(methods(server), ElementsAre("PATCH", "GET", "GET", "PUT"));
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

  const auto written = aio::run(loop, status.write(asking_pod(), "[1]", Log()));

  EXPECT_TRUE(written.has_value());
  EXPECT_THAT(methods(server),
              ElementsAre("PATCH", "GET", "PUT", "GET", "PUT", "GET", "PUT", "GET", "PUT"));
}

// A server that always says the same, a status for it, and time that passes at once.
class UnwritableStatus : public testing::Test {
 protected:
  using Waits = std::vector<std::chrono::milliseconds>;

  void answer_with(kube::FakeApi::Answer answer) {
    server = std::make_unique<kube::FakeApi>(std::move(answer));
    api = server->client();
    status = std::make_unique<KubeStatus>(
        *api, Log({target}, LogLevel::kVerbose), KubeStatus::Timing(), [] { return 0.0; }, timer);
  }
  // `refusal` to all that writes.
  void refuse_with(int refusal, std::string_view body = "{}", std::string_view headers = "") {
    answer_with([=](Peer& peer, const RawRequest& request) {
      if (request.method() == "GET") return peer.answer(200, kPlainPod);
      peer.answer(refusal, body, headers);
    });
  }
  // Of a pod that waits for it.
  Result<void> write() {
    return aio::run(loop, status->write(asking_pod(), "[1]", log_of_request()));
  }
  Result<void> write_plain() {
    return aio::run(loop, status->write(plain_pod(), "[1]", log_of_request()));
  }
  Log log_of_request() const {
    return Log({target}, LogLevel::kVerbose).with_request("0123456789abcdef");
  }
  Result<std::optional<attach::StatusDelay>> attempt() {
    return aio::run(loop, status->attempt(plain_pod(), "[1]", Log()));
  }

  aio::asio::io_context loop;  // outlives the connections
  std::unique_ptr<kube::FakeApi> server;
  std::unique_ptr<kube::Api> api;
  std::shared_ptr<TestLog> target = std::make_shared<TestLog>();
  aio::FakeTimer timer;
  std::unique_ptr<KubeStatus> status;
};

// The account is the same for all pods of the node.
TEST_F(UnwritableStatus, OfOnePodIsAWarningToTheNext) {
  refuse_with(403, R"({"kind":"Status","code":403,"message":"pods \"a\" is forbidden"})");
  (void)write();
  const std::size_t of_the_first = timer.waits().size();
  ASSERT_EQ(timer.waits().front(), 250ms);

  (void)write();

  ASSERT_GT(timer.waits().size(), of_the_first);
  EXPECT_EQ(timer.waits()[of_the_first], 2500ms);
}

TEST_F(UnwritableStatus, SaysOnceWhyAndWhatToDo) {
  refuse_with(403, R"({"kind":"Status","code":403,"message":"pods \"a\" is forbidden"})");

  (void)write();

  EXPECT_THAT(target->lines(),
              ElementsAre(AllOf(HasSubstr("warning: pod n/a: its network status cannot be written"),
                                HasSubstr(R"("pods \"a\" is forbidden")"),
                                HasSubstr("the right to patch pods/status"),
                                HasSubstr(" request=0123456789abcdef\n"))));
}

// 403 is final after ten seconds where a pod waits.
TEST_F(UnwritableStatus, SaysHowLongItIsTriedWhileAPodWaitsForIt) {
  refuse_with(403);

  (void)write();

  EXPECT_THAT(target->lines(), ElementsAre(HasSubstr("retrying for 10 s")));
}

TEST_F(UnwritableStatus, IsTriedForHalfAMinuteWhileAPodWaitsForIt) {
  refuse_with(500);

  const auto written = write();

  ASSERT_FALSE(written.has_value());
  Waits expected{250ms, 500ms, 1s, 2s};
  expected.resize(14, 2500ms);
  EXPECT_THAT(timer.waits(), ElementsAreArray(expected));
}

TEST_F(UnwritableStatus, IsTriedAgainWhenOthersWriteAtTheSameTime) {
  refuse_with(409);

  const auto written = write();

  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code(), Errc::kUnavailable);
  EXPECT_EQ(timer.waits().front(), 250ms);
  EXPECT_EQ(timer.waits().back(), 2500ms);
}

TEST_F(UnwritableStatus, WaitsAsLongAsTheServerAsks) {
  refuse_with(429, "{}", "Retry-After: 7\r\n");

  (void)write();

  EXPECT_THAT(timer.waits(), testing::Each(7s));
  EXPECT_THAT(timer.waits(), SizeIs(4));
}

TEST_F(UnwritableStatus, IsNotTriedAgainWhereThatCannotHelp) {
  for (const int final : {400, 405, 413, 422}) {
    refuse_with(final);

    EXPECT_FALSE(write().has_value()) << final;
    EXPECT_FALSE(attempt().has_value()) << final;
  }
  EXPECT_THAT(timer.waits(), IsEmpty());
}

// etcd's limit, which a pod's author can use up: for the API server an error of its own.
TEST_F(UnwritableStatus, IsNotTriedAgainForAPodThatIsTooLarge) {
  answer_with([](Peer& peer, const RawRequest&) {
    peer.answer(500, R"({"code":500,"message":"etcdserver: request is too large"})");
  });

  EXPECT_FALSE(write().has_value());
  EXPECT_FALSE(attempt().has_value());
  EXPECT_THAT(timer.waits(), IsEmpty());
}

TEST_F(UnwritableStatus, IsNotTriedAgainForAPodThatIsGoneOrReplaced) {
  refuse_with(404);
  EXPECT_TRUE(write().has_value());
  answer_with([](Peer& peer, const RawRequest& request) {
    peer.answer(request.method() == "GET" ? 200 : 422,
                R"({"metadata":{"name":"a","namespace":"n","uid":"another"}})");
  });
  const auto replaced = write();

  ASSERT_FALSE(replaced.has_value());
  EXPECT_EQ(replaced.error().code(), Errc::kConflict);
  EXPECT_THAT(methods(*server), ElementsAre("PATCH", "GET"));
  EXPECT_THAT(timer.waits(), IsEmpty());
}

TEST_F(UnwritableStatus, SaysThatItIsWrittenAfterAll) {
  std::atomic<int> requests = 0;
  answer_with([&](Peer& peer, const RawRequest&) {
    const int number = ++requests;
    peer.answer(number < 3 ? 503 : 200, "{}");
  });

  EXPECT_TRUE(write().has_value());

  EXPECT_THAT(target->lines(),
              ElementsAre(HasSubstr("cannot be written"),
                          HasSubstr("pod n/a: network status written at attempt 3")));
}

// pain 29; of the daemon it is owed instead (05, 3.11)
TEST_F(UnwritableStatus, DoesNotFailAPodThatAsksForNoNetworks) {
  for (const int refusal : {403, 503}) {
    refuse_with(refusal);

    EXPECT_TRUE(write_plain().has_value()) << refusal;
  }
  EXPECT_THAT(timer.waits(), testing::Each(testing::Lt(2s)));
  EXPECT_THAT(target->lines(), testing::Contains(HasSubstr("stays without its network status")));
}

TEST_F(UnwritableStatus, IsTriedOnceWhereNoPodWaitsAndSaysWhatToDo) {
  refuse_with(429, "{}", "Retry-After: 7\r\n");

  const auto delay = attempt();

  ASSERT_TRUE(delay.has_value() && delay->has_value());
  EXPECT_EQ((*delay)->at_least, 7s);
  EXPECT_THAT(std::string((*delay)->advice), HasSubstr("check the API server"));
  EXPECT_THAT(methods(*server), SizeIs(1));
  EXPECT_THAT(timer.waits(), IsEmpty());
}

TEST_F(UnwritableStatus, ThatNobodyMayWriteMayBeAllowedLater) {
  refuse_with(403, R"({"kind":"Status","code":403,"message":"pods \"a\" is forbidden"})");

  const auto delay = attempt();

  ASSERT_TRUE(delay.has_value() && delay->has_value());
  EXPECT_EQ((*delay)->why.code(), Errc::kDenied);
  EXPECT_THAT(std::string((*delay)->advice), HasSubstr("the right to patch pods/status"));
}

}  // namespace
}  // namespace mnet::adapters
