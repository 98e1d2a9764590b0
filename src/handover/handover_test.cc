// Pain 43: who owns the name, and when a daemon is alone again.
#include "handover/handover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/run.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/try.h"
#include "handover/container_locks.h"
#include "http/http.h"
#include "sys/file_lock.h"
#include "sys/socket_file.h"
#include "sys/test_dir.h"

namespace mnet::handover {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using Name = sys::SocketFile::Name;

TEST(OwnSocketPath, IsBesideTheSocketAndHasThePodsUid) {
  EXPECT_EQ(own_socket_path("/run/multus/multus.sock", "0f-1"), "/run/multus/multus-0f-1.sock");
}

TEST(OwnSocketPath, IsNoneWithoutAUidThatFitsIntoAName) {
  EXPECT_EQ(own_socket_path("/run/multus/multus.sock", ""), "");
  EXPECT_EQ(own_socket_path("/run/multus/multus.sock", "../x"), "");
  EXPECT_EQ(own_socket_path("/run/multus/multus.sock", std::string(65, 'a')), "");
  EXPECT_EQ(own_socket_path("/" + std::string(90, 'a') + "/multus.sock", std::string(36, 'a')), "");
}

constexpr std::chrono::milliseconds kMissing{20};

class HandoverTest : public testing::Test {
 protected:
  ~HandoverTest() override {
    group_.cancel();
    (void)aio::run(loop_, group_.join());
  }
  ContainerLocks::EndOrphans searching() {
    return [this] { return search(); };
  }
  aio::Task<void> search() {
    ++searches_;
    if (on_search_) on_search_();
    co_return Result<void>();
  }
  void follow() {
    NameHooks hooks{.state =
                        [this] {
                          ++looks_;
                          return name_;
                        },
                    .taken = [this] { ++taken_; },
                    .lost = [this] { ++lost_; },
                    .is_served =
                        [this] {
                          ++looks_;
                          return is_served_;
                        },
                    .abandoned = [this] { ++abandoned_; }};
    group_.spawn("follow", handover_.follow(std::move(hooks)));
  }
  static aio::Task<void> poll_for(std::function<bool()> fact) {
    for (int i = 0; i < 12000; ++i) {
      if (fact()) co_return Result<void>();
      MNET_CO_TRY_VOID(co_await aio::sleep_for(1ms));
    }
    co_return Error(Errc::kTimeout, "it never came true");
  }
  bool until(std::function<bool()> fact) {
    return aio::run(loop_, poll_for(std::move(fact))).has_value();
  }
  // This many looks at the name begin and end.
  bool looks(int number) {
    const int last = looks_ + number;
    return until([this, last] { return looks_ > last; });
  }
  // An old daemon that answers so.
  void serve(int status, int busy = 0) {
    auto socket = sys::SocketFile::make(path_);
    ASSERT_TRUE(socket && socket->publish());
    server_.emplace(
        loop_.get_executor(),
        [this, status, busy](std::shared_ptr<http::Exchange> exchange) {
          asked_.push_back(exchange->method() + " " + exchange->path());
          return answer(asked_.size() <= static_cast<std::size_t>(busy) ? 503 : status);
        },
        http::Limits(), Log());
    server_->serve(socket->take_listener());
    socket_.emplace(*std::move(socket));
  }
  static aio::Task<http::Response> answer(int status) {
    http::Response response;
    response.status = status;
    co_return response;
  }

  sys::TestDir dir_;
  std::string path_ = dir_ / "multus.sock";
  aio::asio::io_context loop_{1};
  aio::Group group_{loop_.get_executor(), Log()};
  Name name_ = Name::kOurs;
  bool is_served_ = true;
  int looks_ = 0, taken_ = 0, lost_ = 0, abandoned_ = 0, searches_ = 0;
  std::function<void()> on_search_;
  std::vector<std::string> asked_;
  std::optional<sys::SocketFile> socket_;
  std::optional<http::Server> server_;
  std::chrono::steady_clock::time_point now_{};  // passes only when a test says so
  Handover handover_{path_,
                     searching(),
                     Log(),
                     {.soon = 2ms, .poll = 2ms, .missing = kMissing, .answer = 20ms},
                     [this] { return now_; }};
};

TEST_F(HandoverTest, LocksNothingWhileNoOtherDaemonIsThere) {
  handover_.enter();

  EXPECT_FALSE(handover_.is_shared());
}

TEST_F(HandoverTest, LocksFromTheStartWhileAnotherDaemonIsThere) {
  const auto other = sys::Presence::make(dir_.path());

  handover_.enter();

  EXPECT_TRUE(handover_.is_shared());
}

TEST_F(HandoverTest, SearchesForOrphansAndStopsLockingWhenTheOtherDaemonHasEnded) {
  auto other = std::make_unique<sys::Presence>(sys::Presence::make(dir_.path()).value());
  handover_.enter();
  follow();
  ASSERT_TRUE(looks(3));
  EXPECT_EQ(searches_, 0);

  other.reset();

  EXPECT_TRUE(until([this] { return !handover_.is_shared(); }));
  EXPECT_EQ(searches_, 1);
}

TEST_F(HandoverTest, GoesOnLockingIfAThirdDaemonComesDuringThatSearch) {
  auto other = std::make_unique<sys::Presence>(sys::Presence::make(dir_.path()).value());
  std::optional<sys::Presence> third;
  on_search_ = [&] { third.emplace(sys::Presence::make(dir_.path()).value()); };
  handover_.enter();
  other.reset();

  follow();

  EXPECT_TRUE(until([this] { return searches_ == 1; }));
  EXPECT_TRUE(handover_.is_shared());
  on_search_ = nullptr;  // the third one goes, and is looked for once more
}

// Otherwise it would be there for ever, alive and not ready, and the node without a daemon.
TEST_F(HandoverTest, TellsOnceThatTheOneThatTookTheNameIsGone) {
  handover_.enter();
  follow();
  name_ = Name::kTaken;
  ASSERT_TRUE(until([this] { return taken_ > 0; }));
  now_ += 2 * kMissing;
  ASSERT_TRUE(looks(2));
  EXPECT_EQ(abandoned_, 0);

  is_served_ = false;
  ASSERT_TRUE(looks(2));
  EXPECT_EQ(abandoned_, 0);  // it may still come back
  now_ += kMissing;

  EXPECT_TRUE(until([this] { return abandoned_ > 0; }));
  ASSERT_TRUE(looks(2));
  EXPECT_EQ(abandoned_, 1);
}

TEST_F(HandoverTest, TellsOnceThatTheNameIsTakenAndLocksFromThenOn) {
  handover_.enter();
  follow();
  name_ = Name::kTaken;

  ASSERT_TRUE(until([this] { return taken_ > 0; }));
  name_ = Name::kOurs;
  ASSERT_TRUE(looks(2));

  EXPECT_EQ(taken_, 1);
  EXPECT_TRUE(handover_.is_taken());
  EXPECT_TRUE(handover_.is_shared());
}

TEST_F(HandoverTest, TellsThatTheNameIsLostOnlyIfNoDaemonTakesIt) {
  handover_.enter();
  follow();
  name_ = Name::kGone;
  ASSERT_TRUE(looks(2));
  name_ = Name::kOurs;
  ASSERT_TRUE(looks(2));
  now_ += 2 * kMissing;
  name_ = Name::kGone;
  ASSERT_TRUE(looks(2));
  EXPECT_EQ(lost_, 0);

  now_ += kMissing;

  EXPECT_TRUE(until([this] { return lost_ > 0; }));
  EXPECT_EQ(taken_, 0);
}

TEST_F(HandoverTest, AsksTheOldDaemonUntilItLocks) {
  serve(200, 2);

  EXPECT_TRUE(aio::run(loop_, handover_.announce()));

  EXPECT_THAT(asked_, testing::ElementsAre("POST /handover", "POST /handover", "POST /handover"));
}

TEST_F(HandoverTest, DoesNotWaitForADaemonThatKnowsNoHandover) {
  serve(404);

  EXPECT_TRUE(aio::run(loop_, handover_.announce()));

  EXPECT_EQ(asked_.size(), 1u);
}

TEST_F(HandoverTest, DoesNotWaitForADaemonThatDoesNotAnswer) {
  auto socket = sys::SocketFile::make(path_);
  ASSERT_TRUE(socket && socket->publish());

  EXPECT_TRUE(aio::run(loop_, handover_.announce()));
}

TEST_F(HandoverTest, RemovesTheNamesOfKilledDaemons) {
  {
    auto dead = sys::SocketFile::make(dir_ / "multus-1.sock");
    ASSERT_TRUE(dead && dead->publish());
    fs::rename(dir_ / "multus-1.sock", dir_ / "multus-2.sock");
  }

  remove_dead_names(path_);

  EXPECT_FALSE(fs::exists(dir_ / "multus-2.sock"));
}

}  // namespace
}  // namespace mnet::handover
