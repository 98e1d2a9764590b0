// Which goes first: requests of one container, callers that leave (02, 0.5 and 10; 03, 2.11).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/event.h"
#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "attach/fake_ports.h"
#include "attach/node_fixture.h"
#include "attach/ports.h"
#include "attach/request_text.h"
#include "base/error.h"
#include "base/result.h"
#include "base/try.h"
#include "chain/caller.h"
#include "chain/plugins.h"
#include "cni/error.h"

namespace mnet::attach {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TurnsTest : public NodeTest {
 protected:
  void start_add(RequestText what, std::shared_ptr<Result<void>> into = nullptr) {
    group_.spawn("add", adding_into(std::move(what), std::move(into)));
  }
  aio::Task<void> adding_into(RequestText what, std::shared_ptr<Result<void>> into) {
    auto added = co_await attachments_.add(std::move(what));
    if (into != nullptr && !added) *into = added.error();
    co_return Result<void>();
  }
  void finish() { ASSERT_TRUE(aio::run(loop_, group_.join())); }

  aio::Group group_{loop_.get_executor(), log_};
};

TEST_F(TurnsTest, DifferentContainersDoNotWaitForEachOther) {
  auto hold = node_.plugins.hold("ADD a");
  start_add(request(delegates({"a"})));
  ASSERT_TRUE(aio::run(loop_, hold->reached.wait()));
  RequestText other = request(delegates({"b"}));
  other.container_id = "c2";
  other.netns = "/ns2";
  node_.links.namespaces["/ns2"];

  EXPECT_TRUE(add(other));

  hold->release.set();
  finish();
}

TEST_F(TurnsTest, RequestsOfOneContainerTakeTurns) {
  auto hold = node_.plugins.hold("ADD a");
  start_add(request(delegates({"a"})));
  ASSERT_TRUE(aio::run(loop_, hold->reached.wait()));
  group_.spawn("check", attachments_.check(request(delegates({"a"}))));
  loop_.poll();
  EXPECT_THAT(node_.runs(), IsEmpty());

  hold->release.set();
  finish();

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "CHECK a eth0"));
}

// 02, 12: row 131
TEST_F(TurnsTest, ADelEndsARunningAddAndWaitsForItsRollback) {
  auto hold = node_.plugins.hold("ADD a");
  auto outcome = std::make_shared<Result<void>>();
  start_add(request(delegates({"a", "b"})), outcome);
  ASSERT_TRUE(aio::run(loop_, hold->reached.wait()));
  group_.spawn("del", deleting(request(delegates({"a", "b"}))));
  loop_.poll();
  EXPECT_THAT(node_.runs(), IsEmpty());

  hold->release.set();
  finish();

  ASSERT_FALSE(*outcome);
  EXPECT_EQ(outcome->error().code(), Errc::kCancelled);
  // The running plugin finished and no other started; then came rollback, then DEL, which found no
  // record.
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "DEL a eth0", "DEL b net1", "DEL a eth0"));
  EXPECT_THAT(node_.records.scratch, IsEmpty());
  EXPECT_THAT(node_.records.results, IsEmpty());
  EXPECT_THAT(node_.links.namespaces["/ns"], IsEmpty());
}

TEST_F(TurnsTest, ADelEndsAnAddThatStillWaitsForItsTurn) {
  auto hold = node_.plugins.hold("ADD a");
  start_add(request(delegates({"a"})));
  ASSERT_TRUE(aio::run(loop_, hold->reached.wait()));
  auto second = std::make_shared<Result<void>>();
  start_add(request(delegates({"b"})), second);
  group_.spawn("del", deleting(request(delegates({"a"}))));
  hold->release.set();
  finish();

  EXPECT_EQ(second->error().code(), Errc::kCancelled);
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "DEL a eth0", "DEL a eth0"));
}

TEST_F(TurnsTest, AnAddBehindADelRuns) {
  ASSERT_TRUE(add(request(delegates({"a"}))));
  auto hold = node_.plugins.hold("DEL a");
  group_.spawn("del", deleting(request(delegates({"a"}))));
  ASSERT_TRUE(aio::run(loop_, hold->reached.wait()));
  forget();
  auto outcome = std::make_shared<Result<void>>();
  start_add(request(delegates({"a"})), outcome);
  loop_.poll();
  hold->release.set();
  finish();

  EXPECT_TRUE(*outcome);
  EXPECT_THAT(node_.runs(), ElementsAre("DEL a eth0", "ADD a eth0"));
}

// 03, 12: row 54
TEST_F(TurnsTest, AClientThatLeavesDuringAddLeavesNothingBehind) {
  auto hold = node_.plugins.hold("ADD b");
  auto outcome = std::make_shared<Result<void>>();
  RequestText what = request(delegates({"a", "b", "c"}));
  what.caller = std::make_shared<chain::Caller>();
  start_add(what, outcome);
  ASSERT_TRUE(aio::run(loop_, hold->reached.wait()));

  what.caller->leave();
  hold->release.set();
  finish();

  EXPECT_EQ(outcome->error().code(), Errc::kCancelled);
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "ADD b net1", "DEL b net1", "DEL a eth0"));
  EXPECT_THAT(node_.records.scratch, IsEmpty());
  EXPECT_THAT(node_.records.results, IsEmpty());
  EXPECT_THAT(node_.links.namespaces["/ns"], IsEmpty());
}

// The caller leaves while the name of the last interface is looked for.
class LeavingLinks final : public Links {
 public:
  LeavingLinks(FakeLinks& links, std::shared_ptr<chain::Caller> caller)
      : links_(links), caller_(std::move(caller)) {}
  aio::Task<TakenNames> look(std::string netns, std::vector<std::string> ifnames) override {
    caller_->leave();
    co_return links_.look_now(netns, ifnames);
  }

 private:
  FakeLinks& links_;
  std::shared_ptr<chain::Caller> caller_;
};

TEST_F(TurnsTest, ANetworkThatNeverRanLeavesNoResult) {
  RequestText what = request(delegates({"a", "b"}));
  what.caller = std::make_shared<chain::Caller>();
  LeavingLinks links(node_.links, what.caller);
  TextAttachments attachments({.networks = node_.networks,
                               .plugins = node_.plugins,
                               .links = links,
                               .routes = node_.routes,
                               .readiness = node_.readiness,
                               .records = node_.records,
                               .results = node_.records,
                               .device_infos = node_.device_infos},
                              log_);

  EXPECT_FALSE(aio::run(loop_, attachments.add(what)));

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "DEL a eth0"));
  EXPECT_THAT(node_.records.results, IsEmpty());
  EXPECT_THAT(node_.records.scratch, IsEmpty());
}

TEST_F(TurnsTest, AClientThatLeftKeepsItsRecordIfSomethingIsLeft) {
  RequestText what = request(delegates({"a", "b"}));
  what.caller = std::make_shared<chain::Caller>();
  node_.plugins.on_run = [&](const chain::PluginRun&) { what.caller->leave(); };
  node_.plugins.errors.emplace("DEL a", Error(Errc::kPlugin, "stuck"));

  EXPECT_FALSE(add(what));

  EXPECT_TRUE(node_.records.scratch.contains("c1"));
  EXPECT_TRUE(logged("rollback is incomplete"));
}

TEST_F(TurnsTest, AClientThatHasLeftGetsNothingDone) {
  RequestText what = request(delegates({"a"}));
  what.caller = std::make_shared<chain::Caller>();
  what.caller->leave();

  EXPECT_EQ(add(what).error().code(), Errc::kCancelled);
  EXPECT_THAT(node_.calls, IsEmpty());
}

// 02-F51
TEST_F(TurnsTest, AClientThatLeavesEndsTheWaitForReadiness) {
  TextAttachments patient(
      node_.ports(), log_,
      {.readiness_wait = std::chrono::hours(1), .readiness_poll = std::chrono::hours(1)});
  RequestText what = request(R"("readinessindicatorfile":"/r",)" + delegates({"a"}));
  what.caller = std::make_shared<chain::Caller>();
  node_.readiness.on_ask = [&] {
    aio::asio::post(loop_, [caller = what.caller] { caller->leave(); });
  };

  auto added = aio::run(loop_, patient.add(what));

  EXPECT_EQ(added.error().code(), Errc::kCancelled);
}

TEST_F(TurnsTest, DelRunsToTheEndWhateverItsCallerDoes) {
  ASSERT_TRUE(add(request(delegates({"a", "b"}))));
  forget();
  RequestText what = request(delegates({"a"}));
  what.caller = std::make_shared<chain::Caller>();
  what.caller->leave();

  EXPECT_TRUE(del(what));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1", "DEL a eth0"));
}

// A daemon that stops cancels its tasks; what an ADD built comes down all the same.
TEST_F(TurnsTest, ACancelledAddIsRolledBack) {
  auto hold = node_.plugins.hold("ADD b");
  start_add(request(delegates({"a", "b"})));
  ASSERT_TRUE(aio::run(loop_, hold->reached.wait()));

  group_.cancel();
  finish();

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "DEL b net1", "DEL a eth0"));
  EXPECT_THAT(node_.links.namespaces["/ns"], IsEmpty());
}

// Another daemon: the containers that it works on are not free.
class OtherDaemon final : public ContainerLocks {
 public:
  aio::Task<std::shared_ptr<void>> lock(std::string container_id) override {
    asked.push_back(std::move(container_id));
    return wait();
  }
  aio::Task<std::shared_ptr<void>> lock_all() override {
    asked.push_back("all");
    return wait();
  }

  std::vector<std::string> asked;
  aio::Event free;
  std::weak_ptr<void> held;
  std::optional<Error> failure;

 private:
  aio::Task<std::shared_ptr<void>> wait() {
    MNET_CO_TRY_VOID(co_await free.wait());
    if (failure) co_return *failure;
    auto given = std::make_shared<int>();
    held = given;
    co_return std::move(given);
  }
};

class BesideAnotherDaemonTest : public TurnsTest {
 protected:
  BesideAnotherDaemonTest() {
    Ports ports = node_.ports();
    ports.locks = &other_;
    mine_.emplace(ports, log_);
  }
  aio::Task<void> deleting(RequestText what) {
    auto deleted = co_await mine_->del(std::move(what));
    co_return complete(deleted);
  }

  OtherDaemon other_;
  std::optional<TextAttachments> mine_;
};

// Pain 43.
TEST_F(BesideAnotherDaemonTest, ADelWaitsUntilTheOtherHasEndedItsWorkOnTheContainer) {
  group_.spawn("del", deleting(request(delegates({"a"}))));
  loop_.poll();
  EXPECT_THAT(other_.asked, ElementsAre("c1"));
  EXPECT_THAT(node_.runs(), IsEmpty());

  other_.free.set();
  finish();

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a eth0"));
  EXPECT_TRUE(other_.held.expired());
}

TEST_F(BesideAnotherDaemonTest, NothingIsDoneWithoutTheLock) {
  other_.free.set();
  other_.failure = Error(Errc::kIo, "no space left");

  const auto deleted = aio::run(loop_, mine_->del(request(delegates({"a"}))));

  ASSERT_FALSE(deleted);
  EXPECT_EQ(cni::object_for_runtime(deleted.error()).code, 11u);
  EXPECT_THAT(node_.runs(), IsEmpty());
}

TEST_F(BesideAnotherDaemonTest, AGcLocksAllContainers) {
  other_.free.set();

  ASSERT_TRUE(aio::run(loop_, mine_->gc(request(delegates({"a"})))));

  EXPECT_THAT(other_.asked, ElementsAre("all"));
}

}  // namespace
}  // namespace mnet::attach
