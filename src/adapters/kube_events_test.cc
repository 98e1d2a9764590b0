#include "adapters/kube_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "aio/task.h"
#include "attach/source.h"
#include "base/log.h"
#include "base/test_log.h"
#include "base/text.h"
#include "http/scripted_server.h"
#include "json/at.h"
#include "json/json.h"
#include "kube/api.h"
#include "kube/fake_api.h"
#include "model/objects.h"

namespace mnet::adapters {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

using Clock = std::chrono::steady_clock;

TEST(Recent, ForgetsWhatWasNotUsedForItsAge) {
  Recent<int> recent(10, 1h);
  const auto start = Clock::now();
  recent.at("a", start) = 1;
  recent.at("b", start) = 2;

  EXPECT_EQ(recent.at("a", start + 59min), 1);
  EXPECT_EQ(recent.at("c", start + 61min), 0);

  EXPECT_EQ(recent.size(), 2u) << "b is forgotten";
  EXPECT_EQ(recent.at("a", start + 62min), 1) << "a was used since";
}

TEST(Recent, ForgetsTheOldestWhereThereAreTooMany) {
  Recent<int> recent(2, 1h);
  const auto now = Clock::now();
  recent.at("a", now) = 1;
  recent.at("b", now) = 2;
  recent.at("c", now) = 3;

  EXPECT_EQ(recent.size(), 2u);
  EXPECT_EQ(recent.at("b", now), 2);
  EXPECT_EQ(recent.at("a", now), 0);
}

class KubeEventsTest : public testing::Test {
 protected:
  static model::PodObjectPtr pod(const std::string& annotation) {
    auto object = std::make_shared<model::PodObject>();
    object->ns = "n";
    object->name = "a";
    object->uid = "u";
    object->annotations["k8s.v1.cni.cncf.io/networks"] = annotation;
    return object;
  }
  static attach::PodEvent warning(std::string message, const std::string& ns = "n",
                                  const std::string& name = "a") {
    auto named = std::make_shared<model::PodObject>(*pod("x"));
    named->ns = ns;
    named->name = name;
    return {.pod = std::move(named),
            .is_warning = true,
            .reason = "NoNetworkFound",
            .message = std::move(message),
            .request_id = "an-id"};
  }

  // The messages that the server was sent, and for counted repeats their counts.
  std::vector<std::string> arrived(std::size_t at_least) {
    EXPECT_TRUE(kube::drive(loop_, [&] {
      const std::lock_guard lock(mutex_);
      return bodies_.size() >= at_least;
    }));
    const std::lock_guard lock(mutex_);
    std::vector<std::string> texts;
    for (const std::string& body : bodies_) {
      const auto object = json::parse_object(body);
      const std::string message = object ? json::text_at(*object, {"message"}) : "not JSON";
      texts.push_back(message.empty() ? body : message);
    }
    return texts;
  }

  void answer(http::Peer& peer, const http::RawRequest& request) {
    {
      const std::lock_guard lock(mutex_);
      bodies_.push_back(request.body);
    }
    const bool is_refused = !refused_.empty() && request.target().contains(refused_);
    peer.answer(is_refused ? 403 : 200, "{}");
  }

  std::string refused_;  // part of a path; set before anything is sent

  std::mutex mutex_;
  std::vector<std::string> bodies_;
  aio::asio::io_context loop_{1};
  kube::FakeApi server_{[this](auto& peer, const auto& request) { answer(peer, request); }};
  std::unique_ptr<kube::Api> api_ = server_.client();
  std::shared_ptr<TestLog> lines_ = std::make_shared<TestLog>();
  KubeEvents events_{loop_.get_executor(), *api_, Log({lines_}, LogLevel::kVerbose)};
};

TEST_F(KubeEventsTest, SendsAtMostAKibibyteOfAMessageWithoutControlCharacters) {
  events_.send(warning("\x1b[2J" + std::string(std::size_t{256} << 10, 'x')));

  const auto messages = arrived(1);

  ASSERT_THAT(messages, SizeIs(1));
  EXPECT_EQ(messages[0].size(), attach::kMostOfEvent);
  EXPECT_THAT(messages[0], StartsWith("\\x1b[2Jxxx"));
  EXPECT_THAT(messages[0], EndsWith("x..."));
}

TEST_F(KubeEventsTest, CountsARepeatOnTheFirstOne) {
  events_.send(warning("a"));
  events_.send(warning("b"));
  events_.send(warning("a"));

  EXPECT_THAT(arrived(3), ElementsAre("a", "b", StartsWith(R"({"count":2,)")));
}

TEST_F(KubeEventsTest, OfANamespaceThatCannotBeWrittenToHoldUpNoOthers) {
  refused_ = "/namespaces/ending/";
  for (int i = 0; i < 900; ++i) events_.send(warning(cat("lost ", i), "ending", cat("pod-", i)));

  events_.send(warning("kept"));

  EXPECT_TRUE(kube::drive(loop_, [&] {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(bodies_, [](const auto& body) { return body.contains("kept"); });
  }));
  EXPECT_GE(events_.dropped(), 100u) << "one namespace may not fill the line of all";
  events_.cancel();
  EXPECT_TRUE(aio::run(loop_, events_.flush(aio::kNoDeadline)).has_value());
}

TEST_F(KubeEventsTest, ThatCannotBeSentAreInTheLogWithTheIdOfTheirRequest) {
  refused_ = "/namespaces/ending/";
  events_.send(warning("lost", "ending"));

  EXPECT_TRUE(kube::drive(loop_, [&] { return events_.dropped() == 1; }));

  EXPECT_THAT(lines_->text(),
              HasSubstr("event NoNetworkFound of pod ending/a could not be sent: "));
  EXPECT_THAT(lines_->text(), EndsWith(" request=an-id\n"));
}

TEST_F(KubeEventsTest, DoesNotHoldThePodWhileAnEventWaits) {
  auto event = warning("a");
  event.pod = pod(std::string(std::size_t{256} << 10, 'x'));
  const std::weak_ptr<const model::PodObject> held = event.pod;

  events_.send(std::move(event));

  EXPECT_TRUE(held.expired()) << "a thousand may wait, with annotations of 256 KiB each";
  EXPECT_THAT(arrived(1), ElementsAre("a"));
}

}  // namespace
}  // namespace mnet::adapters
