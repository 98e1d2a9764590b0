// Which requests share a list; tests/cluster has the real API.
#include "devices/slices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "devices/fake_resource_objects.h"

namespace mnet::devices {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kOfNode = "spec.nodeName=node1,spec.driver=d";
constexpr const char* kOfNone = "spec.nodeName=,spec.driver=d";

class SlicesTest : public testing::Test {
 protected:
  struct Request {
    Result<DraDevices> found;
    bool has_ended = false;
  };

  ~SlicesTest() override {
    slices_.cancel();
    (void)aio::run(loop_, slices_.wait_ended(aio::kNoDeadline));
    (void)aio::run(loop_, requests_.join());
  }

  static DraDevice device(const std::string& name, const std::string& driver = "d") {
    return {.driver = driver, .pool = "q", .name = name};
  }
  // Runs until it waits, as all requests before it do.
  void request(Request& request, const std::string& name, const std::string& driver = "d") {
    requests_.spawn(name, ask(&request, device(name, driver)));
    settle();
  }
  void settle() {
    loop_.restart();
    loop_.poll();
  }
  aio::Task<void> ask(Request* request, DraDevice wanted) {
    request->found = co_await slices_.find("node1", {std::move(wanted)});
    request->has_ended = true;
    co_return Result<void>();
  }
  static std::string id_of(const Request& request) {
    if (!request.has_ended) return "waits";
    if (!request.found) return request.found.error().text();
    return request.found->empty() ? "none" : request.found->begin()->second.device_id;
  }

  boost::asio::io_context loop_;
  FakeResourceObjects objects_;
  Slices slices_{loop_.get_executor(), objects_, 20s, Log()};
  aio::Group requests_{loop_.get_executor(), Log()};
};

TEST_F(SlicesTest, AreListedOnceForAllThatWait) {
  std::vector<std::string> names;
  for (int i = 0; i < 60; ++i) names.push_back(cat(i));
  objects_.publish(kOfNode, 1, names);
  objects_.may_answer.reset();
  std::vector<Request> requests(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) request(requests[i], names[i]);

  objects_.may_answer.set();
  settle();

  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(id_of(requests[i]), cat("id-", i, "-1"));
  // The first begins at once, and the others wait for the next.
  EXPECT_THAT(objects_.asked, ElementsAre(kOfNode, kOfNode));
}

// A driver publishes a device before it is allocated: a request that comes later must not get an
// older list.
TEST_F(SlicesTest, ThatAreBeingListedDoNotServeARequestThatComesLater) {
  objects_.may_answer.reset();
  Request early, late;
  request(early, "1");
  objects_.publish(kOfNode, 1, {"1"});
  request(late, "1");

  objects_.may_answer.set();
  settle();

  EXPECT_EQ(id_of(early), "none");
  EXPECT_EQ(id_of(late), "id-1-1");
  EXPECT_THAT(objects_.asked, ElementsAre(kOfNode, kOfNone, kOfNode));
}

TEST_F(SlicesTest, OfADriverThatCannotBeReadFailOnlyTheRequestsForIt) {
  objects_.publish("spec.nodeName=node1,spec.driver=good", 1, {"2"}, "good");
  objects_.failing = {"spec.nodeName=node1,spec.driver=bad"};
  objects_.may_answer.reset();
  Request first, bad, good;
  request(first, "1");
  request(bad, "1", "bad");
  request(good, "2", "good");

  objects_.may_answer.set();
  settle();

  EXPECT_THAT(id_of(bad), HasSubstr("resource slices of driver bad: refused"));
  EXPECT_EQ(id_of(good), "id-2-1");
}

TEST_F(SlicesTest, AreNotListedForNoDevice) {
  auto found = aio::run(loop_, slices_.find("node1", {}));
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(*found, IsEmpty());
  EXPECT_THAT(objects_.asked, IsEmpty());
}

TEST_F(SlicesTest, AreNotListedWithoutEnd) {
  objects_.is_endless = true;
  Request endless;

  request(endless, "1");

  EXPECT_THAT(id_of(endless), HasSubstr("the list did not end"));
  EXPECT_THAT(objects_.asked, SizeIs(1000));
}

TEST_F(SlicesTest, AreListedNoMoreAfterACancel) {
  objects_.may_answer.reset();
  Request running, waiting;
  request(running, "1");
  request(waiting, "1");

  slices_.cancel();
  settle();

  for (const Request* one : {&running, &waiting}) {
    ASSERT_TRUE(one->has_ended);
    EXPECT_EQ(one->found.error().code(), Errc::kCancelled);
  }
  EXPECT_THAT(objects_.asked, ElementsAre(kOfNode));
}

}  // namespace
}  // namespace mnet::devices
