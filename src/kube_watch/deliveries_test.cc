#include "kube_watch/deliveries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/run.h"
#include "base/log.h"
#include "base/result.h"
#include "kube/fake_api.h"
#include "kube_watch/channel.h"
#include "nodetools/output.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::kube_watch {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

// The handler appends `current|previous` to a file of calls; then does what `behaviour` says.
struct Bench {
  sys::TestDir dir;
  nodetools::RecordedOutput output;
  aio::asio::io_context loop{1};
  Deliveries::Settings settings;
  std::unique_ptr<Deliveries> deliveries;
  std::unique_ptr<aio::Group> group;

  explicit Bench(std::string_view behaviour = "", bool wants_empty = false) {
    dir.write("handler",
              std::string("#!/bin/sh\nprintf '%s|%s\\n' \"$2\" \"$3\" >> ") + (dir / "calls") +
                  "\n" + std::string(behaviour),
              0755);
    settings.handler = dir / "handler";
    settings.wants_empty = wants_empty;
    settings.environment = {"PATH=/usr/bin:/bin", "DIR=" + dir.path()};
    settings.first_pause = 20ms;
    start();
  }
  ~Bench() { stop(); }

  void start() {
    deliveries.reset();
    auto channel = Channel::make(dir / "run/channel", "file f").value();
    ASSERT_TRUE(channel.has_value());
    deliveries = std::make_unique<Deliveries>(settings, *std::move(channel), output);
    ASSERT_TRUE(deliveries->remember("").has_value());
    group = std::make_unique<aio::Group>(loop.get_executor(), Log());
    group->spawn("deliveries", deliveries->run());
  }
  void stop() {
    group->cancel();
    EXPECT_TRUE(aio::run(loop, group->join()).has_value());
  }
  void offer(std::string text, std::string key = "") {
    deliveries->offer({.key = std::move(key), .text = std::move(text), .event = "MODIFIED"});
  }
  std::string text(std::string_view name) const { return sys::read_file(dir / name).value_or(""); }
  std::string calls() const { return text("calls"); }
  bool await(const std::function<bool()>& condition) { return kube::drive(loop, condition); }
  // Until the handler has been called like this, and is done.
  void await_calls(std::string_view wanted) {
    const bool is_done = await([&] { return calls() == wanted && text("run/channel").empty(); });
    EXPECT_TRUE(is_done) << output.complaints;
    EXPECT_EQ(calls(), wanted);
  }
  void await_file(std::string_view name) {
    EXPECT_TRUE(await([&] { return std::filesystem::exists(dir / name); })) << name;
  }
};

// 04, 4: rows 74 and 75
TEST(Deliveries, GiveTheNewValueAndTheOneThatWasHandledLast) {
  Bench bench;

  bench.offer("orange,apple,banana\n");
  bench.await_calls("orange,apple,banana|\n");
  bench.offer("orange,mango,banana");
  bench.await_calls("orange,apple,banana|\norange,mango,banana|orange,apple,banana\n");

  EXPECT_EQ(bench.text("run/channel.prev"), "orange,mango,banana\n");
  EXPECT_THAT(bench.output.printed, HasSubstr(R"(### Channel data ###
orange,mango,banana
###
### Channel data diff ###
@@ -1 +1 @@
-orange,apple,banana
\ No newline at end of file
+orange,mango,banana
\ No newline at end of file
###
Handling channel data with )"));
}

TEST(Deliveries, ShowNothingThatATerminalObeysAndGiveTheHandlerAllOfIt) {
  Bench bench;
  const std::string value = "\x1b[2J\a\n###\n### Channel data ###\nforged";

  bench.offer(value);
  bench.await_calls(value + "|\n");

  EXPECT_THAT(bench.output.printed, HasSubstr("### Channel data ###\n\\x1b[2J\\a\n\\###\n"
                                              "\\### Channel data ###\nforged\n###\n"));
  EXPECT_THAT(bench.output.printed, Not(HasSubstr("\x1b")));
}

// 04, 4: row 116
TEST(Deliveries, ShowHowAValueGrows) {
  Bench bench;
  bench.offer("a");
  bench.await_calls("a|\n");
  bench.offer("a\nb");
  bench.await_calls("a|\na\nb|a\n");

  EXPECT_THAT(bench.output.printed, HasSubstr("@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n"
                                              "+a\n+b\n\\ No newline at end of file\n###\n"));
}

// 04, 4: rows 76 and 90
TEST(Deliveries, IgnoreWhatIsTheSameAndTakeTextLiterally) {
  Bench bench;
  bench.offer("a\\nb");
  bench.await_calls("a\\nb|\n");
  bench.offer(std::string("a\\nb\n\n\0", 7));
  bench.offer("c");
  bench.await_calls("a\\nb|\nc|a\\nb\n");
}

// 04, 4: row 77
TEST(Deliveries, TakeEmptyValuesOnlyIfAskedTo) {
  Bench bench;
  bench.offer("a");
  bench.await_calls("a|\n");
  bench.offer("\n");
  bench.offer("b");
  bench.await_calls("a|\nb|a\n");

  Bench empty("", true);
  empty.offer("a");
  empty.await_calls("a|\n");
  empty.offer("");
  empty.await_calls("a|\n|a\n");
}

// 04, 4: row 86
TEST(Deliveries, MergeWhatArrivesWhileTheHandlerRuns) {
  Bench bench("touch $DIR/runs; while [ ! -e $DIR/go ]; do sleep 0.01; done\n");
  bench.offer("1");
  bench.await_file("runs");
  EXPECT_EQ(bench.text("run/channel"), "1");
  for (const char* value : {"2", "3", "4", "5"}) bench.offer(value);
  bench.dir.write("go", "");

  bench.await_calls("1|\n5|1\n");
}

// 04, 4: row 87
TEST(Deliveries, DeliverNothingIfTheValueIsBackBefore) {
  Bench bench("touch $DIR/runs; while [ ! -e $DIR/go ]; do sleep 0.01; done\n");
  bench.offer("A");
  bench.await_file("runs");
  bench.offer("B");
  bench.offer("A");
  bench.dir.write("go", "");
  bench.await_calls("A|\n");
  bench.offer("C");
  bench.await_calls("A|\nC|A\n");
}

// 04, 4: row 88
TEST(Deliveries, TryAgainWhatFailedWithTheSamePreviousAndTheNewestValue) {
  Bench bench("[ $(wc -l < $DIR/calls) -ge ${ENOUGH:-4} ]\n");
  bench.offer("a");
  bench.await_calls("a|\na|\na|\na|\n");
  EXPECT_THAT(bench.output.complaints, HasSubstr("Handler failed: exit 1"));
  EXPECT_EQ(bench.text("run/channel.prev"), "a\n");

  Bench newest("[ \"$2\" = good ]\n");
  newest.offer("bad");
  newest.await_file("calls");
  newest.offer("good");
  EXPECT_TRUE(newest.await([&] { return newest.calls().ends_with("good|\n"); }));
  EXPECT_THAT(newest.calls(), testing::StartsWith("bad|\n"));
}

TEST(Deliveries, KeepObjectsApart) {
  Bench bench("touch $DIR/runs; while [ ! -e $DIR/go ]; do sleep 0.01; done\n");
  bench.offer("x1", "n/x");
  bench.await_file("runs");
  bench.offer("y1", "n/y");
  bench.offer("x2", "n/x");
  bench.offer("y2", "n/y");
  bench.dir.write("go", "");

  bench.await_calls("x1|\ny2|\nx2|x1\n");
  bench.deliveries->forget("n/x");
  bench.offer("x2", "n/x");
  bench.await_calls("x1|\ny2|\nx2|x1\nx2|\n");
  bench.deliveries->keep_only({"n/x"});
  bench.offer("x2", "n/x");
  bench.offer("y2", "n/y");
  bench.await_calls("x1|\ny2|\nx2|x1\nx2|\ny2|\n");
}

TEST(Deliveries, DeliverAValueThatReturnsWhileAnotherObjectGoes) {
  Bench bench("while [ \"$2\" = new ] && [ ! -e $DIR/go ]; do touch $DIR/runs; sleep 0.01; done\n");
  bench.offer("old", "n/x");
  bench.await_calls("old|\n");
  bench.offer("new", "n/x");
  bench.await_file("runs");
  bench.offer("old", "n/x");
  bench.deliveries->forget("n/y");
  bench.deliveries->keep_only({"n/x"});
  bench.dir.write("go", "");

  bench.await_calls("old|\nnew|old\nold|new\n");
}

// 04, 4: row 95
TEST(Deliveries, RememberWhatAnEarlierRunHasHandled) {
  Bench bench;
  bench.offer("a\nb");
  bench.await_calls("a\nb|\n");
  bench.stop();
  bench.start();

  bench.offer("a\nb");
  bench.offer("c");

  bench.await_calls("a\nb|\nc|a\nb\n");
}

// 04, 4: row 89
TEST(Deliveries, PutALongValueIntoTheFilesAlone) {
  Bench bench("cp $1 $DIR/seen; printf \"%s\" \"$KUBE_WATCH_OVERSIZE\" > $DIR/oversize\n");
  const std::string value(200'000, 'x');

  bench.offer(value);
  bench.await_calls("|\n");

  EXPECT_EQ(bench.text("seen"), value);
  EXPECT_EQ(bench.text("oversize"), "1");
  bench.offer(std::string(131071, 'y'));
  bench.await_calls("|\n" + std::string(131071, 'y') + "|\n");
}

TEST(Deliveries, FailWithAHandlerThatIsNotThereAndGoOnWhenItComes) {
  Bench bench;
  std::filesystem::rename(bench.dir / "handler", bench.dir / "away");
  bench.offer("a");
  ASSERT_TRUE(bench.await([&] { return !bench.output.complaints.empty(); }));
  EXPECT_THAT(bench.output.complaints, HasSubstr("no such file or directory"));

  std::filesystem::rename(bench.dir / "away", bench.dir / "handler");
  bench.await_calls("a|\n");
}

// A script that undoes the work of a handler that failed half-way must know what it was about.
TEST(Deliveries, NameTheValuesThatWereTriedUntilOneIsHandled) {
  Bench bench("[ \"$2\" = c ]\n");

  bench.offer("a");
  ASSERT_TRUE(bench.await([&] { return bench.calls() == "a|\na|\n"; }));
  EXPECT_EQ(bench.text("run/channel.tried"), "a\n");
  bench.offer("b");
  ASSERT_TRUE(bench.await([&] { return bench.text("run/channel.tried") == "a\nb\n"; }));
  bench.offer("c");
  ASSERT_TRUE(bench.await([&] { return bench.text("run/channel.prev") == "c\n"; }));

  EXPECT_EQ(bench.text("run/channel.tried"), "");
}

TEST(Deliveries, PrintNothingThatIsPrivate) {
  Bench bench;

  bench.deliveries->offer({.text = "password", .event = "FILE", .is_private = true});
  bench.await_calls("password|\n");

  EXPECT_THAT(bench.output.printed, Not(HasSubstr("password")));
  EXPECT_THAT(bench.output.printed, HasSubstr("(8 bytes, not shown"));
}

TEST(Channel, BelongsToOneAndKeepsNothingOfAnother) {
  const sys::TestDir dir;
  {
    const auto first = Channel::make(dir / "channel", "object configmap a").value();
    ASSERT_TRUE(first->finish("theirs").has_value());
    EXPECT_FALSE(Channel::make(dir / "channel", "object configmap b").value().has_value());
  }
  EXPECT_EQ(Channel::make(dir / "channel", "object configmap a").value()->load_previous().value(),
            "theirs");

  const auto other = Channel::make(dir / "channel", "object configmap b").value();

  EXPECT_EQ(other->dropped(), "object configmap a");
  EXPECT_EQ(other->load_previous().value(), "");
}

TEST(Channel, OfAnEarlierVersionIsTakenOver) {
  const sys::TestDir dir;
  dir.write("channel.prev", "value\n");

  EXPECT_EQ(Channel::make(dir / "channel", "file f").value()->load_previous().value(), "value");
}

TEST(Channel, NeedsAFolderThatCanBeMade) {
  const sys::TestDir dir;
  dir.write("file", "");
  std::filesystem::create_directory(dir / "folder");

  EXPECT_FALSE(Channel::make(dir / "file/channel", "s").has_value());
  EXPECT_FALSE(Channel::make(dir / "folder", "s").has_value());
}

}  // namespace
}  // namespace mnet::kube_watch
