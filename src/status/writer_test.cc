// Statuses after the answers, with whole requests on a node in memory (05, 3.11).
#include "status/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstddef>
#include <string>

#include "aio/fake_timer.h"
#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "attach/node_fixture.h"
#include "attach/pod_fixture.h"
#include "attach/ports.h"
#include "attach/request.h"
#include "attach/request_text.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/text.h"
#include "model/attachment_record.h"

namespace mnet::status {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A node whose pods `ns1/p1`, `ns1/p2` and so on ask for nothing.
class WriterTest : public attach::PodTest {
 protected:
  // This many pauses end at once; in the next one time stands still.
  explicit WriterTest(std::size_t pauses = 0) : timer_(pauses) {
    for (int i = 1; i <= 20; ++i) node_.source.add_pod("ns1", cat("p", i), {});
  }
  ~WriterTest() override {
    running_.cancel();
    (void)aio::run(loop_, running_.join());
    EXPECT_TRUE(aio::run(loop_, finish()).value_or(false));
  }

  attach::Ports owing_ports() {
    attach::Ports all = node_.cluster_ports();
    all.owed = &writer_;
    return all;
  }
  aio::Task<bool> finish() {
    const bool has_ended = co_await writer_.finish(aio::Deadline::min());
    co_return has_ended;
  }

  static std::string conf() { return delegates({"a"}); }
  static attach::RequestText of(const std::string& container_id, const std::string& pod = "p1") {
    attach::RequestText text = request(conf());
    text.container_id = container_id;
    text.id = cat("of-", container_id);
    text.args = cat("IgnoreUnknown=1;K8S_POD_NAMESPACE=ns1;K8S_POD_NAME=", pod,
                    ";K8S_POD_INFRA_CONTAINER_ID=", container_id, ";K8S_POD_UID=u1");
    return text;
  }
  attach::Request read(attach::Verb verb, const attach::RequestText& text) {
    return attach::read_text(verb, text, log_).value();
  }
  void add_owing(const std::string& container_id, const std::string& pod = "p1") {
    node_.links.namespaces["/ns"].clear();
    auto added = aio::run(loop_, owing_.add(read(attach::Verb::kAdd, of(container_id, pod))));
    ASSERT_TRUE(added) << added.error().text();
  }
  void start() {
    running_.spawn("writer", writer_.run());
    settle();
  }
  // Runs until nothing moves any more.
  void settle() {
    loop_.restart();
    loop_.poll();
  }
  // Starts as a daemon does that finds these records.
  void take_up() {
    running_.spawn("earlier", writer_.take_up({"/var/lib/cni/multus"}));
    settle();
  }
  bool record_owes(const std::string& container_id) {
    return node_.records.records.at(container_id).find(model::kStatusOwed) != nullptr;
  }
  std::size_t count_calls(const std::string& what) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        node_.calls, [&](const std::string& call) { return call.starts_with(what); }));
  }
  std::size_t count_lines(const std::string& what) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        lines_->lines(), [&](const std::string& line) { return line.contains(what); }));
  }

  const attach::StatusDelay unwell_{.why = Error(Errc::kUnavailable, "the server is away"),
                                    .advice = "look at it"};
  aio::FakeTimer timer_;
  Writer writer_{
      loop_.get_executor(), owing_, {.random = [] { return 0.0; }, .timer = &timer_}, log_};
  attach::Attachments owing_{owing_ports(), {.boot_id = "boot-1"}};
  aio::Group running_{loop_.get_executor(), log_};
};

TEST_F(WriterTest, WritesAfterTheAnswerAndThenOwesNothing) {
  start();

  add_owing("c1");
  const std::string at_the_answer = status();
  settle();

  EXPECT_THAT(at_the_answer, IsEmpty());
  EXPECT_THAT(status(), HasSubstr("eth0"));
  EXPECT_FALSE(record_owes("c1"));
  EXPECT_EQ(writer_.count(), 0u);
}

TEST_F(WriterTest, KeepsOwingWhatTheServerDoesNotTakeAndSaysSoOnce) {
  node_.source.status_delay = unwell_;
  start();

  add_owing("c1", "p1");
  add_owing("c2", "p2");
  settle();

  EXPECT_TRUE(record_owes("c1"));
  EXPECT_EQ(writer_.count(), 2u);
  EXPECT_EQ(count_lines("network statuses cannot be written"), 1u);
  EXPECT_EQ(count_lines("look at it request=of-c1"), 1u);
}

TEST_F(WriterTest, DropsTheStatusOfAContainerThatGoes) {
  node_.source.status_delay = unwell_;
  start();
  add_owing("c1");
  settle();

  ASSERT_TRUE(attach::told(aio::run(loop_, owing_.del(read(attach::Verb::kDel, of("c1"))))));

  EXPECT_EQ(writer_.count(), 0u);
}

// A DEL that comes while the status is on its way to the server.
TEST_F(WriterTest, WritesNothingIntoTheRecordOfAContainerThatWentMeanwhile) {
  start();
  node_.source.on_try = [this] { writer_.forget("c1"); };

  add_owing("c1");
  settle();

  EXPECT_EQ(count_calls("settle status"), 0u);
}

// The runtime died, and no DEL came for the pod's earlier container.
TEST_F(WriterTest, WritesOnlyTheStatusOfTheNewestContainerOfAPod) {
  add_owing("c1");
  add_owing("c2");

  start();

  EXPECT_EQ(count_calls("write status"), 1u);
  EXPECT_FALSE(record_owes("c2"));
}

TEST_F(WriterTest, MakesATextThatDoesNotFitIntoMemoryAgainFromTheRecord) {
  node_.plugins.answers["ADD a"] =
      cat(R"({"cniVersion":"1.0.0","interfaces":[{"name":"eth0","sandbox":"/ns"}],)"
          R"("dns":{"domain":")",
          std::string(150'000, 'd'), R"("}})");
  add_owing("c1", "p1");
  add_owing("c2", "p2");

  start();

  EXPECT_EQ(node_.source.statuses["ns1/p2"], node_.source.statuses["ns1/p1"]);
  EXPECT_GT(status().size(), 150'000u);
  EXPECT_TRUE(node_.source.lookups.back().once) << "the second was read from its record";
}

TEST_F(WriterTest, SaysThatAStatusWillNeverBeTaken) {
  node_.source.status_error = Error(Errc::kInvalid, "too long");
  start();

  add_owing("c1");
  settle();

  EXPECT_FALSE(record_owes("c1"));
  EXPECT_EQ(count_lines("giving up writing its network status: too long request=of-c1"), 1u);
}

TEST_F(WriterTest, EndsWithoutWaitingForAServerThatIsUnwell) {
  node_.source.status_delay = unwell_;
  start();
  add_owing("c1");
  settle();

  const auto ended = aio::run(loop_, finish());

  EXPECT_TRUE(ended.value_or(false));
  EXPECT_TRUE(record_owes("c1"));
}

// A daemon that was killed: only its records are left.
class StatusesOfAnEarlierDaemon : public WriterTest {
 protected:
  explicit StatusesOfAnEarlierDaemon(std::size_t pauses = 1) : WriterTest(pauses) {}

  void add_and_die(const std::string& container_id, const std::string& pod = "p1") {
    add_owing(container_id, pod);
    writer_.forget(container_id);
  }
};

TEST_F(StatusesOfAnEarlierDaemon, AreWrittenFromTheRecords) {
  add_and_die("c1");
  const std::string original = R"("interface": "eth0")";
  start();

  take_up();

  EXPECT_THAT(status(), AllOf(HasSubstr(original), HasSubstr(R"("default": true)")));
  EXPECT_FALSE(record_owes("c1"));
}

TEST_F(StatusesOfAnEarlierDaemon, AreTheSameTextAsItWouldHaveWritten) {
  add_and_die("c1");
  start();
  take_up();
  const std::string from_record = status();

  node_.source.statuses.clear();
  node_.source.add_pod("ns1", "p1", {});
  add_owing("c9");
  settle();

  EXPECT_EQ(status(), from_record);
}

TEST_F(StatusesOfAnEarlierDaemon, AreNotWrittenIfTheyAreNotOwed) {
  start();
  add_owing("c1");
  settle();
  node_.calls.clear();

  take_up();

  EXPECT_THAT(node_.calls, IsEmpty());
}

TEST_F(StatusesOfAnEarlierDaemon, AreNotWrittenForPodsThatWereReplaced) {
  add_and_die("c1");
  node_.source.pod_error = Error(Errc::kConflict, "expected pod UID \"u1\" but got \"u2\"");
  start();

  take_up();

  EXPECT_EQ(node_.source.lookups.back().uid, "u1");
  EXPECT_THAT(node_.source.statuses, IsEmpty());
  EXPECT_FALSE(record_owes("c1"));
}

TEST_F(StatusesOfAnEarlierDaemon, AreNotWrittenForPodsThatAreGone) {
  add_and_die("c1", "p1");
  node_.source.pods.erase("ns1/p1");
  start();

  take_up();

  EXPECT_THAT(node_.source.statuses, IsEmpty());
  EXPECT_FALSE(record_owes("c1"));
}

TEST_F(StatusesOfAnEarlierDaemon, StayOwedWhileTheirPodsCannotBeRead) {
  add_and_die("c1");
  node_.source.pod_error = Error(Errc::kUnavailable, "the server is away");
  start();

  take_up();

  EXPECT_TRUE(record_owes("c1"));
  EXPECT_EQ(writer_.count(), 1u);
}

// Two pauses: the first before it begins.
class StatusesOfUnreadableRecords : public StatusesOfAnEarlierDaemon {
 protected:
  StatusesOfUnreadableRecords() : StatusesOfAnEarlierDaemon(2) {}

  // Once the second pause has begun.
  aio::Task<void> become_readable() {
    for (int i = 0; i < 100 && timer_.waits().size() < 2; ++i) {
      co_await aio::asio::post(aio::asio::use_awaitable);
    }
    node_.records.find_record_error.reset();
    co_return Result<void>();
  }
};

TEST_F(StatusesOfUnreadableRecords, AreTakenUpOnceThoseCanBeRead) {
  add_and_die("c1");
  add_and_die("c2", "p2");
  node_.records.find_record_error = Error(Errc::kIo, "no descriptors", EMFILE);
  start();
  running_.spawn("time", become_readable());

  take_up();

  EXPECT_FALSE(record_owes("c1"));
  EXPECT_FALSE(record_owes("c2"));
  EXPECT_EQ(count_lines("cannot tell whether that of container c1 is owed"), 1u);
}

// The newer container has its status already.
TEST_F(StatusesOfAnEarlierDaemon, NeverReplaceThatOfANewerContainer) {
  add_and_die("c1");
  auto old = model::decode_record(node_.records.records["c1"]).value();
  old.attachments.front().added_at = "2020-01-01T00:00:00Z";
  node_.records.records["c1"] = model::encode_record(old);
  start();
  add_owing("c2");
  settle();
  node_.calls.clear();

  take_up();

  EXPECT_THAT(node_.calls, IsEmpty());
}

class WriterWithPauses : public WriterTest {
 protected:
  WriterWithPauses() : WriterTest(7) {}
};

// In a brown-out a node makes one attempt in each pause, however many pods it has.
TEST_F(WriterWithPauses, TriesOneAtATimeWithGrowingPausesWhileTheServerIsUnwell) {
  node_.source.status_delay = unwell_;
  for (int i = 1; i <= 20; ++i) add_owing(cat("c", i), cat("p", i));

  start();

  EXPECT_THAT(timer_.waits(), ElementsAre(1s, 2s, 4s, 8s, 16s, 30s, 30s, 30s));
  EXPECT_LE(count_calls("try status"), Writer::kSideBySide + 7);
  EXPECT_EQ(writer_.count(), 20u);
}

TEST_F(WriterWithPauses, WritesThemAllWhenTheServerIsBack) {
  node_.source.status_delay = unwell_;
  node_.source.on_try = [this] {
    if (timer_.waits().size() == 3) node_.source.status_delay.reset();
  };
  for (int i = 1; i <= 20; ++i) add_owing(cat("c", i), cat("p", i));

  start();

  EXPECT_EQ(node_.source.statuses.size(), 20u);
  EXPECT_EQ(writer_.count(), 0u);
  EXPECT_EQ(count_lines("network statuses can be written again"), 1u);
}

TEST_F(WriterWithPauses, WaitsAsLongAsTheServerAsks) {
  node_.source.status_delay = unwell_;
  node_.source.status_delay->at_least = 70s;
  add_owing("c1");

  start();

  EXPECT_EQ(timer_.waits().front(), 70s);
}

// An operator has to give us the right; a server that has just started only seems to miss it.
TEST_F(WriterWithPauses, TriesSoonOnceAndThenEveryFewMinutesWhileARightIsMissing) {
  node_.source.status_delay = attach::StatusDelay{.why = Error(Errc::kDenied, "forbidden")};
  add_owing("c1");

  start();

  EXPECT_THAT(timer_.waits(), ElementsAre(1s, 2min, 2min, 2min, 2min, 2min, 2min, 2min));
}

}  // namespace
}  // namespace mnet::status
