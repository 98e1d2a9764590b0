// Against a server that says exactly what the test wants; tests/node_e2e has the real kubelet.
#include "devices/kubelet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/fake_timer.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "devices/fake_kubelet.h"
#include "devices/pod_resources.h"
#include "devices/proto_text.h"
#include "sys/test_dir.h"

namespace mnet::devices {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class KubeletTest : public testing::Test {
 protected:
  ~KubeletTest() override {
    if (!kubelet_) return;
    kubelet_->cancel();
    (void)aio::run(loop_, kubelet_->wait_ended(aio::kNoDeadline));
  }

  void serve(FakeKubelet::Script script) {
    server_ = std::make_unique<FakeKubelet>(socket_, std::move(script));
  }
  Kubelet& kubelet(std::chrono::milliseconds time = 10s) {
    KubeletSettings settings;
    settings.socket = socket_;
    settings.time = time;
    settings.most_of_list = most_of_list_;
    settings.random = [] { return 0.0; };
    settings.timer = &timer_;
    kubelet_.emplace(loop_.get_executor(), std::move(settings), Log());
    return *kubelet_;
  }
  Result<DeviceIds> devices() { return aio::run(loop_, kubelet().devices_of({"n", "p"})); }
  std::string error_of(const FakeAnswer& answer) {
    serve([answer](const std::string&) { return answer; });
    auto found = devices();
    if (found) return "none";
    EXPECT_EQ(found.error().code(), Errc::kProtocol) << found.error().text();
    return found.error().text();
  }
  static std::string listed(const std::string& id = "1") {
    return pod_text("n", "p", {container_text("c", {{"r", {id}}})});
  }

  sys::TestDir dir_;
  std::string socket_ = dir_ / "kubelet.sock";
  std::size_t most_of_list_ = KubeletSettings().most_of_list;
  boost::asio::io_context loop_;
  aio::FakeTimer timer_;
  std::unique_ptr<FakeKubelet> server_;
  std::optional<Kubelet> kubelet_;
};

TEST_F(KubeletTest, ListsTheDevicesOfAPod) {
  serve([](const std::string& method) {
    EXPECT_EQ(method, "/v1.PodResourcesLister/List");
    return FakeAnswer{.message = listed()};
  });

  auto found = devices();

  ASSERT_TRUE(found.has_value()) << found.error().text();
  EXPECT_THAT(*found, ElementsAre(Pair("r", ElementsAre("1"))));
}

TEST_F(KubeletTest, HasNoDevicesForAPodThatItDoesNotList) {
  serve([](const std::string&) { return FakeAnswer{}; });
  auto found = devices();
  ASSERT_TRUE(found.has_value()) << found.error().text();
  EXPECT_THAT(*found, IsEmpty());
}

TEST_F(KubeletTest, SaysWhatTheNodeOffers) {
  serve([](const std::string& method) {
    EXPECT_EQ(method, "/v1.PodResourcesLister/GetAllocatableResources");
    return FakeAnswer{.message = field(1, devices_text({"r", {"1", "2"}}))};
  });

  auto offer = aio::run(loop_, kubelet().offer());

  ASSERT_TRUE(offer.has_value()) << offer.error().text();
  EXPECT_THAT(**offer, ElementsAre(Pair("r", 2)));
}

// 02-F30: the kubelet serves 100 requests a second.
TEST_F(KubeletTest, IsAskedOnceForAllThatWait) {
  std::atomic<int> lists = 0;
  serve([&lists](const std::string&) {
    ++lists;
    std::string all;
    for (int i = 0; i < 60; ++i) {
      all += pod_text("n", cat("p", i), {container_text("c", {{"r", {cat(i)}}})});
    }
    return FakeAnswer{.message = all};
  });
  Kubelet& asked = kubelet();
  std::vector<aio::Task<DeviceIds>> all;
  for (int i = 0; i < 60; ++i) all.push_back(asked.devices_of({"n", cat("p", i)}));

  auto together =
      [](std::vector<aio::Task<DeviceIds>> tasks) -> aio::Task<std::vector<Result<DeviceIds>>> {
    co_return co_await aio::all(std::move(tasks));
  };
  auto answers = aio::run(loop_, together(std::move(all)));

  ASSERT_TRUE(answers.has_value());
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE((*answers)[i].has_value()) << (*answers)[i].error().text();
    EXPECT_THAT(*(*answers)[i], ElementsAre(Pair("r", ElementsAre(cat(i)))));
  }
  // The first begins at once, and the others wait for the next.
  EXPECT_EQ(lists, 2);
}

TEST_F(KubeletTest, IsAskedOnceForItsOfferToo) {
  std::atomic<int> calls = 0;
  serve([&calls](const std::string&) {
    ++calls;
    return FakeAnswer{.message = field(1, devices_text({"r", {"1"}}))};
  });
  using Answer = std::shared_ptr<const Offer>;
  Kubelet& asked = kubelet();
  std::vector<aio::Task<Answer>> all;
  for (int i = 0; i < 12; ++i) all.push_back(asked.offer());

  auto together =
      [](std::vector<aio::Task<Answer>> tasks) -> aio::Task<std::vector<Result<Answer>>> {
    co_return co_await aio::all(std::move(tasks));
  };
  auto answers = aio::run(loop_, together(std::move(all)));

  ASSERT_TRUE(answers.has_value());
  for (const Result<Answer>& answer : *answers) EXPECT_THAT(**answer, ElementsAre(Pair("r", 1)));
  EXPECT_EQ(calls, 2);
}

TEST_F(KubeletTest, IsAskedAgainWhileItRefusesOrStarts) {
  std::atomic<int> calls = 0;
  serve([&calls](const std::string&) -> FakeAnswer {
    switch (++calls) {
      case 1:
        return {.status = 8, .why = "rejected by rate limit"};
      case 2:
        return {.status = 14, .why = "starting"};
      case 3:
        return {.is_refused = true};
      case 4:
        return {.message = listed(), .cut = 9};
      default:
        return {.message = listed()};
    }
  });

  auto found = devices();

  ASSERT_TRUE(found.has_value()) << found.error().text();
  EXPECT_THAT(*found, ElementsAre(Pair("r", ElementsAre("1"))));
  EXPECT_EQ(calls, 5);
  EXPECT_THAT(timer_.waits(), ElementsAre(100ms, 200ms, 400ms, 500ms));
}

TEST_F(KubeletTest, IsGivenUpWhenTheTimeIsOver) {
  serve(
      [](const std::string&) { return FakeAnswer{.status = 8, .why = "rejected by rate limit"}; });

  auto found = devices();

  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code(), Errc::kUnavailable);
  EXPECT_THAT(found.error().text(), AllOf(HasSubstr(socket_), HasSubstr("List"),
                                          HasSubstr("ResourceExhausted (8): rejected by rate")));
}

TEST_F(KubeletTest, ThatIsStartingAgainIsWaitedFor) {
  // The socket file of a process that has ended.
  {
    const FakeKubelet gone(socket_, [](const std::string&) { return FakeAnswer{}; });
  }
  auto refused = devices();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), Errc::kUnavailable);
  EXPECT_GT(timer_.waits().size(), 3);
  EXPECT_FALSE(Kubelet::is_absent(refused.error()));
}

TEST_F(KubeletTest, WithoutASocketIsAbsentAtOnce) {
  auto found = devices();
  ASSERT_FALSE(found.has_value());
  EXPECT_TRUE(Kubelet::is_absent(found.error())) << found.error().text();
  EXPECT_THAT(timer_.waits(), IsEmpty());
}

TEST_F(KubeletTest, ThatSaysNothingIsNotWaitedForLonger) {
  serve([](const std::string&) { return FakeAnswer{.is_silent = true}; });
  auto found = aio::run(loop_, kubelet(50ms).devices_of({"n", "p"}));
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code(), Errc::kTimeout);
}

TEST_F(KubeletTest, ThatStopsInTheMiddleOfItsAnswerIsNotWaitedForLonger) {
  serve(
      [](const std::string&) { return FakeAnswer{.message = listed(), .cut = 9, .stalls = true}; });
  auto found = aio::run(loop_, kubelet(50ms).devices_of({"n", "p"}));
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code(), Errc::kTimeout);
}

// 02, 12: row 87
TEST_F(KubeletTest, MayAnswerWithMoreThan16MiB) {
  const std::string filler = field(9, std::string(16u << 20, 'x'));
  serve([&filler](const std::string&) { return FakeAnswer{.message = filler + listed()}; });
  auto found = devices();
  ASSERT_TRUE(found.has_value()) << found.error().text();
  EXPECT_THAT(*found, ElementsAre(Pair("r", ElementsAre("1"))));
}

// 02, 12: row 87
TEST_F(KubeletTest, MayAnswerWithSoManyBytesAndNoMore) {
  most_of_list_ = 1u << 20;
  EXPECT_THAT(error_of({.message = field(9, std::string(1u << 20, 'x'))}),
              HasSubstr("1048576 are the most"));
}

TEST_F(KubeletTest, ThatSpeaksNonsenseIsNotAskedAgain) {
  EXPECT_THAT(error_of({.status = 12, .why = "unknown service"}),
              HasSubstr("Unimplemented (12): unknown service"));
  EXPECT_THAT(error_of({.message = "\xff\xff"}), HasSubstr("not a protobuf message"));
  EXPECT_THAT(error_of({.message = listed(), .length = 3}), HasSubstr("more than one message"));
  EXPECT_THAT(error_of({.message = listed(), .length = 300}), HasSubstr("cut short"));
  EXPECT_THAT(error_of({.message = listed(), .flag = 1}), HasSubstr("compressed"));
  EXPECT_THAT(timer_.waits(), IsEmpty());

  server_ = nullptr;
  server_ = std::make_unique<FakeKubelet>(socket_, nullptr, "HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_FALSE(devices().has_value());
}

TEST_F(KubeletTest, NeedsNameAndNamespace) {
  for (const PodName& pod : {PodName{"", "p"}, PodName{"n", ""}}) {
    auto found = aio::run(loop_, kubelet().devices_of(pod));
    ASSERT_FALSE(found.has_value());
    EXPECT_THAT(found.error().text(), HasSubstr("Pod name or namespace cannot be empty"));
  }
}

}  // namespace
}  // namespace mnet::devices
