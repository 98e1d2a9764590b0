// Against a server that says exactly what the test wants; tests/cluster has the real one.
#include "adapters/definition_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/event.h"
#include "aio/fake_timer.h"
#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "aio/timer.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/test_log.h"
#include "base/text.h"
#include "http/scripted_server.h"
#include "json/json.h"
#include "kube/definitions.h"
#include "kube/fake_api.h"
#include "kube/kube.h"
#include "kube/watch_event.h"
#include "model/objects.h"

namespace mnet::adapters {
namespace {

using namespace std::chrono_literals;
using attach::LiveReads;
using http::Peer;
using http::RawRequest;

constexpr std::string_view kFilled =
    R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1",)"
    R"("annotations":{"k8s.io/initial-events-end":"true"}}}})";

std::string definition(std::string_view name) {
  return cat(R"({"metadata":{"namespace":"n","name":")", name,
             R"(","resourceVersion":"5"},"spec":{"config":"{}"}})");
}

// Definitions of a namespace, and a watch that only says that there are none.
class Definitions {
 public:
  void answer(Peer& peer, const RawRequest& request) {
    if (request.target().contains("watch=true")) {
      peer.begin_chunks();
      peer.chunk(cat(kFilled, "\n"));
      peer.wait_for_close();
      return;
    }
    const std::string name = request.target().substr(request.target().rfind('/') + 1);
    std::unique_lock lock(mutex_);
    const int status = status_ != 0 ? status_ : present_.contains(name) ? 200 : 404;
    ++asked_;
    names_.push_back(name);
    most_at_once_ = std::max(most_at_once_, ++running_);
    released_.wait(lock, [this] { return !is_held_; });
    --running_;
    lock.unlock();
    peer.answer(status, status == 200 ? definition(other_.empty() ? name : other_) : "{}");
  }

  void add(const std::string& name) {
    const std::lock_guard lock(mutex_);
    present_.insert(name);
  }
  // Whatever is asked for.
  void answer_with(std::string name) {
    const std::lock_guard lock(mutex_);
    other_ = std::move(name);
  }
  void fail_with(int status) {
    const std::lock_guard lock(mutex_);
    status_ = status;
  }
  // What is said about a request is decided when it comes, and said when it is released.
  void hold() {
    const std::lock_guard lock(mutex_);
    is_held_ = true;
  }
  void release() {
    const std::lock_guard lock(mutex_);
    is_held_ = false;
    released_.notify_all();
  }
  int asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  std::vector<std::string> names() const {
    const std::lock_guard lock(mutex_);
    return names_;
  }
  int most_at_once() const {
    const std::lock_guard lock(mutex_);
    return most_at_once_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable released_;
  std::set<std::string> present_;
  std::vector<std::string> names_;  // that were asked for, in order
  std::string other_;
  int status_ = 0;
  bool is_held_ = false;
  int asked_ = 0, running_ = 0, most_at_once_ = 0;
};

class DefinitionReadsTest : public testing::Test {
 protected:
  using Found = Result<model::NetworkDefinitionPtr>;

  void TearDown() override {
    api_.release();
    group_.cancel();
    EXPECT_TRUE(aio::run(loop_, group_.join()).has_value());
    EXPECT_TRUE(aio::run(loop_, reads_.wait_ended(aio::kNoDeadline)).has_value());
  }
  // The store is filled, with nothing, and stays up to date.
  void fill() {
    group_.spawn("watch", watch_.run());
    ASSERT_TRUE(kube::drive(loop_, [this] { return watch_.is_synced() && !watch_.down_for(); }));
  }
  // What the watch brings.
  void tell(const std::string& name) {
    ASSERT_TRUE(
        store_.change(kube::EventType::kAdded, *json::parse_object(definition(name))).has_value());
  }
  void let_pass(std::chrono::milliseconds time) {
    ASSERT_TRUE(aio::run(loop_, timer_.sleep_for(time)).has_value());
  }
  Found find(const std::string& name, LiveReads* reads = nullptr) {
    return aio::run(loop_, reads_.find({.ns = "n", .name = name, .reads = reads}));
  }
  // As one request with so many networks does.
  std::vector<Found> find_all(const std::string& prefix, int count) {
    return aio::run(loop_, find_side_by_side(prefix, count)).value();
  }
  aio::Task<std::vector<Found>> find_side_by_side(std::string prefix, int count) {
    LiveReads reads;
    std::vector<aio::Task<model::NetworkDefinitionPtr>> tasks;
    for (int i = 0; i < count; ++i) {
      tasks.push_back(reads_.find({.ns = "n", .name = cat(prefix, i), .reads = &reads}));
    }
    co_return co_await aio::all(std::move(tasks));
  }
  // Begins a lookup; what it finds is added to `found_`.
  void begin(const std::string& name, LiveReads* reads = nullptr) {
    group_.spawn(name, note(name, reads));
  }
  aio::Task<void> note(std::string name, LiveReads* reads = nullptr) {
    auto found = co_await reads_.find({.ns = "n", .name = name, .reads = reads});
    found_.push_back(std::move(found));
    co_return Result<void>();
  }
  bool is_asked(int count) {
    return kube::drive(loop_, [this, count] { return api_.asked() == count; });
  }
  bool has_found(std::size_t count) {
    return kube::drive(loop_, [this, count] { return found_.size() == count; });
  }

  aio::asio::io_context loop_;  // outlives the connections
  Definitions api_;
  const kube::FakeApi server_{
      [this](Peer& peer, const RawRequest& request) { api_.answer(peer, request); }};
  std::unique_ptr<kube::Api> client_ = server_.client();
  kube::Definitions store_;
  kube::Reflector watch_{
      *client_, {.path = std::string(kube::kNetworksPath)}, store_, Log(), [] { return 0.0; }};
  aio::FakeTimer timer_;
  std::shared_ptr<TestLog> lines_ = std::make_shared<TestLog>();
  DefinitionReads reads_{loop_.get_executor(),
                         *client_,
                         store_,
                         watch_,
                         {.most = 1},
                         timer_,
                         Log({lines_}, LogLevel::kVerbose)};
  aio::Group group_{loop_.get_executor(), Log()};
  std::vector<Found> found_;
};

TEST_F(DefinitionReadsTest, RequestsThatWantTheSameDefinitionShareARead) {
  api_.add("a");
  api_.hold();
  for (int i = 0; i < 20; ++i) begin("a");
  ASSERT_TRUE(is_asked(1));
  api_.release();

  ASSERT_TRUE(has_found(20));
  for (const Found& found : found_) EXPECT_EQ((*found)->name, "a");
  EXPECT_EQ(api_.asked(), 1);
  EXPECT_EQ(reads_.count(), 1u);
}

TEST_F(DefinitionReadsTest, AReadGoesOnWithoutTheRequestThatBeganIt) {
  api_.add("a");
  api_.hold();
  aio::Group first(loop_.get_executor(), Log());
  first.spawn("first", note("a"));
  begin("a");
  ASSERT_TRUE(is_asked(1));
  first.cancel();
  ASSERT_TRUE(aio::run(loop_, first.join()).has_value());
  api_.release();

  ASSERT_TRUE(has_found(2));
  EXPECT_EQ(found_[0].error().code(), Errc::kCancelled);
  EXPECT_EQ((*found_[1])->name, "a");
}

// Throws when it is asked for the time, as often as it is told to.
class FaultyTimer final : public aio::Timer {
 public:
  aio::Deadline now() const override {
    if (faults_ > 0) {
      --faults_;
      throw std::bad_alloc();
    }
    return timer_.now();
  }
  aio::Task<void> sleep_for(Duration time) override { return timer_.sleep_for(time); }
  aio::Task<void> wait_for(aio::Event* event, Duration time) override {
    return timer_.wait_for(event, time);
  }
  void fail(int times) { faults_ = times; }

 private:
  aio::FakeTimer timer_;
  mutable int faults_ = 0;
};

// Else every request for that definition would wait for ever.
TEST_F(DefinitionReadsTest, AReadThatThrowsEndsForThoseWhoWaitAndIsBegunAnew) {
  FaultyTimer timer;
  DefinitionReads reads(loop_.get_executor(), *client_, store_, watch_, {.most = 1}, timer, Log());
  timer.fail(1);  // it notes that the definition is missing

  const Found missing = aio::run(loop_, reads.find({.ns = "n", .name = "a"}));
  api_.add("a");
  const Found found = aio::run(loop_, reads.find({.ns = "n", .name = "a"}));

  EXPECT_TRUE(missing && *missing == nullptr);
  ASSERT_TRUE(found && *found != nullptr);
  EXPECT_EQ(api_.asked(), 2);
  EXPECT_TRUE(aio::run(loop_, reads.wait_ended(aio::kNoDeadline)));
}

TEST_F(DefinitionReadsTest, ARequestWaitsNoLongerThanItMay) {
  api_.add("a");
  api_.hold();
  LiveReads over{std::chrono::steady_clock::now()};

  EXPECT_EQ(find("a", &over).error().code(), Errc::kTimeout);
  begin("a");
  ASSERT_TRUE(is_asked(1));
  api_.release();

  ASSERT_TRUE(has_found(1));
  EXPECT_EQ((*found_[0])->name, "a");
}

TEST_F(DefinitionReadsTest, AMissIsKeptForASecond) {
  fill();
  EXPECT_EQ(find("a").value(), nullptr);
  EXPECT_EQ(find("a").value(), nullptr);
  let_pass(999ms);
  EXPECT_EQ(find("a").value(), nullptr);
  EXPECT_EQ(api_.asked(), 1);

  let_pass(1ms);
  api_.add("a");

  EXPECT_NE(find("a").value(), nullptr);
  EXPECT_EQ(api_.asked(), 2);
}

// 02-F11 and 03-F39: without a watch nothing would tell that it has come.
TEST_F(DefinitionReadsTest, AMissIsNotKeptWhileTheWatchIsDown) {
  EXPECT_EQ(find("a").value(), nullptr);
  api_.add("a");

  EXPECT_NE(find("a").value(), nullptr);
}

TEST_F(DefinitionReadsTest, AnEventOfTheWatchEndsAMiss) {
  fill();
  EXPECT_EQ(find("a").value(), nullptr);
  tell("a");

  EXPECT_NE(find("a").value(), nullptr);
  EXPECT_EQ(api_.asked(), 1);
}

TEST_F(DefinitionReadsTest, ADefinitionThatComesWhileItsAbsenceIsOnItsWayIsFound) {
  fill();
  api_.hold();
  begin("a");
  ASSERT_TRUE(is_asked(1));
  tell("a");
  api_.release();

  ASSERT_TRUE(has_found(1));
  EXPECT_NE(found_[0].value(), nullptr);
}

TEST_F(DefinitionReadsTest, ARequestThatComesDuringAReadIsNotToldOfAnAbsenceBeforeIt) {
  api_.hold();
  begin("a");
  ASSERT_TRUE(is_asked(1));
  api_.add("a");  // with the pod that the next request is for
  begin("a");
  api_.release();

  ASSERT_TRUE(has_found(2));
  EXPECT_EQ(found_[0].value(), nullptr);
  EXPECT_NE(found_[1].value(), nullptr);
  EXPECT_EQ(api_.asked(), 2);
}

TEST_F(DefinitionReadsTest, OneRequestHasEightReadAtMost) {
  fill();

  const std::vector<Found> found = find_all("unknown", 1000);

  EXPECT_EQ(api_.asked(), 8);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(found[i].value(), nullptr);
  for (int i = 8; i < 1000; ++i) EXPECT_EQ(found[i].error().code(), Errc::kUnavailable);
}

// Thin multus has no store, and a daemon none that was ever filled while its watch fails.
TEST_F(DefinitionReadsTest, WithoutAStoreARequestHasAllOfItsNetworksReadEightAtOnce) {
  for (int i = 0; i < 20; ++i) api_.add(cat("net", i));

  for (const Found& found : find_all("net", 20)) EXPECT_NE(found.value(), nullptr);
  EXPECT_EQ(api_.asked(), 20);
  EXPECT_LE(api_.most_at_once(), 8);

  const std::vector<Found> unknown = find_all("unknown", 1000);
  EXPECT_EQ(unknown[0].value(), nullptr);
  EXPECT_EQ(api_.asked(), 28) << "none after the first that is missing";
}

class EvictedTextTest : public DefinitionReadsTest {
 protected:
  EvictedTextTest() {
    for (const char* name : {"a", "b", "c"}) api_.add(name);
  }
  void evict() {
    for (const char* name : {"a", "b", "c"}) tell(name);
    for (int i = 0; i < 20; ++i) tell(cat("large", i), std::string(1u << 20, 'x'));
    ASSERT_EQ(store_.find("n", "a")->size, 2u);
  }
  using DefinitionReadsTest::tell;
  void tell(const std::string& name, const std::string& text) {
    json::Object object = *json::parse_object(definition(name));
    object.set("spec", json::Object{{"config", text}});
    ASSERT_TRUE(store_.change(kube::EventType::kModified, object).has_value());
  }
};

TEST_F(EvictedTextTest, IsReadOnceAndKept) {
  fill();
  evict();

  EXPECT_EQ(find("a").value()->config, "{}");
  EXPECT_EQ(find("a").value()->config, "{}");
  EXPECT_EQ(api_.asked(), 1);
}

TEST_F(EvictedTextTest, IsToldWithTheRequestThatAskedFirst) {
  fill();
  evict();
  LiveReads of_request{aio::kNoDeadline, LiveReads::Others::kEnd, "n", "r1"};

  ASSERT_TRUE(find("a", &of_request).has_value());

  EXPECT_THAT(lines_->text(), testing::ContainsRegex("is not in memory: reading it request=r1\n"));
}

// An error is never an absence: a network that is there must not be reported as missing.
TEST_F(EvictedTextTest, ThatCannotBeReadIsNotMissing) {
  fill();
  evict();
  api_.fail_with(500);

  ASSERT_FALSE(find("a").has_value());
  EXPECT_EQ(find("a").error().code(), Errc::kUnavailable);
  api_.fail_with(0);
  EXPECT_NE(find("a").value(), nullptr);
}

TEST_F(EvictedTextTest, IsReadAlthoughItWasMissingAMomentAgo) {
  fill();
  api_.fail_with(404);
  EXPECT_EQ(find("a").value(), nullptr);
  evict();
  api_.fail_with(0);

  EXPECT_NE(find("a").value(), nullptr);
}

TEST_F(EvictedTextTest, AfterTheEighthComesAtTheNextAttempt) {
  for (int i = 0; i < 12; ++i) api_.add(cat("net", i));
  fill();
  for (int i = 0; i < 12; ++i) tell(cat("net", i));
  for (int i = 0; i < 20; ++i) tell(cat("large", i), std::string(1u << 20, 'x'));

  const std::vector<Found> first = find_all("net", 12);
  EXPECT_EQ(api_.asked(), 8);
  EXPECT_EQ(std::ranges::count_if(first, [](const Found& one) { return one.has_value(); }), 8);
  EXPECT_EQ(first[8].error().code(), Errc::kUnavailable);

  for (const Found& found : find_all("net", 12)) EXPECT_NE(found.value(), nullptr);
  EXPECT_EQ(api_.asked(), 12);
}

TEST_F(DefinitionReadsTest, TakesNoOtherDefinitionThanTheOneItAskedFor) {
  api_.add("a");
  api_.answer_with("b");

  EXPECT_THAT(find("a").error().text(), testing::HasSubstr("n/a and answered with n/b"));
  EXPECT_EQ(store_.find("n", "b"), nullptr);
}

// The line is shared by who asks, not by whose definitions are asked for.
TEST_F(DefinitionReadsTest, ATenantsManyReadsLeaveAnotherItsTurn) {
  constexpr int kMany = 100;  // many more than are read at once
  std::deque<LiveReads> requests;
  const auto ask = [&](const std::string& asker, const std::string& name) {
    begin(name, &requests.emplace_back(aio::kNoDeadline, LiveReads::Others::kGoOn, asker));
  };
  api_.hold();
  for (int i = 0; i < kMany; ++i) ask("mallory", cat("m", i));
  ASSERT_TRUE(kube::drive(loop_, [this] { return api_.asked() > 0; }));
  ask("alice", "wanted");
  api_.release();
  ASSERT_TRUE(has_found(kMany + 1));

  const std::vector<std::string> names = api_.names();
  EXPECT_LT(std::ranges::find(names, "wanted") - names.begin(), kMany / 2) << join(names, " ");
}

}  // namespace
}  // namespace mnet::adapters
