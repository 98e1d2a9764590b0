#include "daemon/pending_del_replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "attach/attach.h"
#include "base/error.h"
#include "base/text.h"
#include "cni/error.h"
#include "daemon/service_fixture.h"
#include "http/raw_client.h"
#include "sys/test_dir.h"
#include "sys/test_limits.h"

namespace mnet::daemon {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A service whose cniDir is below its own test directory.
class PendingDelsTest : public testing::Test {
 protected:
  static constexpr std::size_t kMostOfNamespace = 5;
  PendingDelsTest() : service_(options()) {
    service_.with([this](Service& inside) { inside.pending.look_in(cni_dir()); });
  }

  ServiceOptions options() {
    ServiceOptions options;
    options.config = cat(R"({"clusterNetwork":"a","cniDir":")", cni_dir(), "\"}");
    options.most_of_namespace = kMostOfNamespace;
    return options;
  }
  std::string cni_dir() const { return dir_ / "cni"; }
  std::string record(const std::string& file) const {
    return cat(cni_dir(), "/pending-del/", file);
  }
  void write_record(const std::string& file, const std::string& body) const {
    dir_.write(cat("cni/pending-del/", file), body);
  }
  void write_del(const std::string& container, const std::string& ns = "ns",
                 const std::string& folder = {}) const {
    const std::string env =
        env_of("DEL", container, cat("K8S_POD_NAMESPACE=", ns, ";K8S_POD_NAME=p"));
    write_record(cat(folder, container, "-eth0.json"), request_body(env, "{}"));
  }
  static bool exists(const std::string& path) { return std::filesystem::exists(path); }
  void start(std::chrono::milliseconds period = 1h) {
    service_.with(
        [period](Service& inside) { inside.group.spawn("pending", inside.pending.run(period)); });
  }
  void fail_del(Error error) {
    service_.with([&error](Service& inside) { inside.core.fail("DEL", std::move(error)); });
  }
  void end_del(attach::DelOutcome outcome) {
    service_.with([&](Service& inside) { inside.core.del_outcome = std::move(outcome); });
  }
  std::ptrdiff_t count_failures() const {
    return std::ranges::count_if(service_.lines->lines(), [](const std::string& line) {
      return line.contains("failed and is tried again");
    });
  }
  std::string metrics() {
    return service_.with([](Service& inside) { return inside.metrics.text(); });
  }

  sys::TestDir dir_;
  TestService service_;
};

TEST_F(PendingDelsTest, ReplaysEveryRecordAtTheStartAndRemovesIt) {
  write_del("c1");
  write_del("c2");

  start();

  while (exists(record("c1-eth0.json")) || exists(record("c2-eth0.json"))) {
    std::this_thread::yield();
  }
  EXPECT_EQ(service_.calls().size(), 2u);
  EXPECT_THAT(metrics(), HasSubstr("multus_pending_del_replays_total{outcome=\"success\"} 2\n"));
}

// A pod that cannot start makes another one at every retry of the kubelet.
TEST_F(PendingDelsTest, GivesUpTheDelOfAFailedAddAfterTenMinutes) {
  write_del("new");
  write_del("old");
  std::filesystem::last_write_time(record("old-eth0.json"),
                                   std::filesystem::file_time_type::clock::now() - 11min);
  end_del({.failed = cni::coded(cni::Code::kTryAgainLater, "will not"), .is_of_failed_add = true});

  start(5ms);

  while (exists(record("old-eth0.json"))) std::this_thread::yield();
  EXPECT_TRUE(service_.lines->has("pending DEL old-eth0.json is given up"));
  EXPECT_TRUE(exists(record("new-eth0.json")));
}

// Who may write definitions may make a plugin's DEL fail for ever, and each pod that comes and goes
// leaves files on the disk.
TEST_F(PendingDelsTest, GivesUpWhatANamespaceHasTooManyOf) {
  const auto old = std::filesystem::file_time_type::clock::now() - 11min;
  const auto write_old = [&](const std::string& container, const std::string& ns) {
    write_del(container, ns);
    std::filesystem::last_write_time(record(cat(container, "-eth0.json")), old);
  };
  for (int i = 0; i < 8; ++i) write_old(cat("c", i), "tenant");
  write_old("other", "another");
  end_del({.failed = cni::coded(cni::Code::kTryAgainLater, "will not")});
  start();

  for (int tries = 1; tries <= 4; ++tries) {
    while (count_failures() < 9 * tries) std::this_thread::yield();
    service_.with([](Service& inside) { inside.pending.wake(); });
  }

  const auto count = [this] {
    const std::filesystem::directory_iterator files(cat(cni_dir(), "/pending-del"));
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  };
  while (count() > kMostOfNamespace + 1) std::this_thread::yield();
  while (count_failures() < 36 + 6) std::this_thread::yield();
  EXPECT_EQ(count(), kMostOfNamespace + 1);
  EXPECT_TRUE(exists(record("other-eth0.json")));
  EXPECT_TRUE(service_.lines->has("or more than 5 DELs of its namespace"));
}

// The last try runs every plugin; one that could not begin, for a reason that passes, was none.
TEST_F(PendingDelsTest, IsNotGivenUpByALastTryThatReadNothing) {
  write_del("old");
  std::filesystem::last_write_time(record("old-eth0.json"),
                                   std::filesystem::file_time_type::clock::now() - 11min);
  end_del({.failed = cni::coded(cni::Code::kTryAgainLater, "will not"), .is_of_failed_add = true});
  service_.with([](Service& inside) {
    inside.core.last_outcome = attach::DelOutcome{
        .unreadable = cni::coded(cni::Code::kTryAgainLater, "too many open files")};
  });

  start(5ms);

  while (!service_.lines->has("too many open files")) std::this_thread::yield();
  EXPECT_TRUE(exists(record("old-eth0.json")));
  EXPECT_FALSE(service_.lines->has("is given up"));
}

// The age of a file is by the wall clock, which may have been set meanwhile.
TEST_F(PendingDelsTest, IsNotGivenUpForItsAgeAlone) {
  write_del("old");
  std::filesystem::last_write_time(record("old-eth0.json"),
                                   std::filesystem::file_time_type::clock::now() - 11min);
  end_del({.failed = cni::coded(cni::Code::kTryAgainLater, "will not"), .is_of_failed_add = true});
  start();

  for (int tries = 1; tries <= 4; ++tries) {
    while (count_failures() < tries) std::this_thread::yield();
    EXPECT_TRUE(exists(record("old-eth0.json")));
    service_.with([](Service& inside) { inside.pending.wake(); });
  }

  while (exists(record("old-eth0.json"))) std::this_thread::yield();
}

// As over any request: the node's paths are not the record's to choose.
TEST_F(PendingDelsTest, LaysTheDaemonsConfigurationOverARecord) {
  write_record("c1-eth0.json",
               request_body(env_of("DEL", "c1"), R"({"cniDir":"/srv/tenant","name":"x"})"));

  start();

  while (exists(record("c1-eth0.json"))) std::this_thread::yield();
  ASSERT_EQ(service_.calls().size(), 1u);
  EXPECT_EQ(service_.calls()[0].request.conf->cni_dir, cni_dir());
  EXPECT_EQ(service_.calls()[0].request.conf->name, "x");
}

TEST_F(PendingDelsTest, KeepsARecordWhoseDelegatesFailAndTriesAgain) {
  write_del("c1");
  fail_del(cni::coded(cni::Code::kTryAgainLater, "will not"));

  start(5ms);

  while (service_.calls().size() < 3) std::this_thread::yield();
  EXPECT_TRUE(exists(record("c1-eth0.json")));
  service_.with([](Service& inside) { inside.core.succeed("DEL"); });
  while (exists(record("c1-eth0.json"))) std::this_thread::yield();
  EXPECT_TRUE(service_.lines->has("pending DEL c1-eth0.json failed and is tried again in"));
}

TEST_F(PendingDelsTest, SetsRecordsAsideThatNobodyCanUse) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"a.json", "{"},
      {"b.json", "null"},
      {"c.json", ""},
      {"d.json", R"({"config":"e30="})"},
      {"e.json", request_body(env_of("ADD"), "{}")},
      {"f.json", request_body(R"({"CNI_COMMAND":"DEL"})", "{}")},
  };
  for (const auto& [file, body] : bad) write_record(file, body);

  start();

  for (const auto& [file, body] : bad) {
    const std::string said = cat("/pending-del/", file, " is damaged and was set aside");
    while (!service_.lines->has(said)) std::this_thread::yield();
    EXPECT_TRUE(exists(record(cat("bad/", file)))) << file;
  }
  EXPECT_THAT(service_.order(), IsEmpty());
  EXPECT_THAT(metrics(), HasSubstr("multus_pending_del_bad_records_total 6\n"));
}

TEST_F(PendingDelsTest, SetsARecordAsideThatTheCoreRefuses) {
  write_del("c1");
  fail_del(cni::coded(cni::Code::kInvalidEnvironment, "invalid characters found in containerID"));

  start();

  while (!exists(record("bad/c1-eth0.json"))) std::this_thread::yield();
}

TEST_F(PendingDelsTest, ReplaysNothingAfterAStop) {
  write_del("c1");
  service_.with([](Service& inside) { inside.pending.stop(); });

  start();

  EXPECT_THAT(service_.order(), IsEmpty());
  EXPECT_TRUE(exists(record("c1-eth0.json")));
}

TEST_F(PendingDelsTest, EndsWithTheReplaysThatHaveBegun) {
  write_del("c1");
  service_.with([](Service& inside) { inside.core.close("DEL"); });
  start();
  service_.wait_for("DEL c1");

  service_.with([](Service& inside) {
    inside.pending.stop();
    inside.core.open();
  });
  const auto ended =
      service_.loop.run(service_.service().group.join(std::chrono::steady_clock::now() + 20s));

  EXPECT_TRUE(ended.has_value());
  EXPECT_FALSE(exists(record("c1-eth0.json")));
}

// Eight at once, and each waits for its plugin until the delegate's time is over.
TEST_F(PendingDelsTest, DelsThatHangLeaveAPlaceToAnotherNamespace) {
  for (int i = 0; i < 20; ++i) write_del(cat("a", i), "tenant");
  service_.with([](Service& inside) { inside.core.close("DEL"); });
  start(10ms);
  while (service_.calls().size() < 7) std::this_thread::yield();

  // Whole at once, as the shim writes it: files are listed meanwhile.
  write_del("z", "other", "new/");
  std::filesystem::rename(cat(cni_dir(), "/pending-del/new/z-eth0.json"), record("z-eth0.json"));
  std::filesystem::remove(cat(cni_dir(), "/pending-del/new"));

  service_.wait_for("DEL z");
  service_.with([](Service& inside) { inside.core.open(); });
  while (!std::filesystem::is_empty(cat(cni_dir(), "/pending-del"))) std::this_thread::yield();
}

TEST_F(PendingDelsTest, AnAddRunsTheRecordedDelFirst) {
  write_del("c1");

  const auto response = service_.ask("POST", "/cni", request_body(env_of("ADD", "c1"), "{}"));

  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(service_.order(), ElementsAre("DEL c1", "end of DEL c1", "ADD c1", "end of ADD c1"));
  EXPECT_FALSE(exists(record("c1-eth0.json")));
}

TEST_F(PendingDelsTest, AnAddGoesOnAndForgetsTheRecordWhenTheRecordedDelFails) {
  write_del("c1");
  fail_del(cni::coded(cni::Code::kTryAgainLater, "will not"));

  const auto response = service_.ask("POST", "/cni", request_body(env_of("ADD", "c1"), "{}"));

  EXPECT_EQ(response.status, 200);
  EXPECT_FALSE(exists(record("c1-eth0.json")));
  EXPECT_TRUE(service_.lines->has("ADD continues after the failed pending DEL c1-eth0.json"));
}

TEST_F(PendingDelsTest, AnAddThatFailsKeepsTheRecordThatCouldNotBeReplayed) {
  write_del("c1");
  fail_del(cni::coded(cni::Code::kTryAgainLater, "will not"));
  service_.with([](Service& inside) { inside.core.fail("ADD", Error(Errc::kPlugin, "no")); });

  service_.ask("POST", "/cni", request_body(env_of("ADD", "c1"), "{}"));

  EXPECT_TRUE(exists(record("c1-eth0.json")));
}

TEST_F(PendingDelsTest, NoReplayTouchesAContainerThatIsBeingAdded) {
  service_.with([](Service& inside) { inside.core.close("ADD"); });
  http::RawClient client(service_.socket());
  const std::string body = request_body(env_of("ADD", "c1"), "{}");
  client.send(cat("POST /cni HTTP/1.0\r\nContent-Length: ", body.size(), "\r\n\r\n", body));
  service_.wait_for("ADD c1");
  write_del("c1");
  write_del("c2");

  start();

  while (exists(record("c2-eth0.json"))) std::this_thread::yield();
  EXPECT_THAT(service_.order(), ElementsAre("ADD c1", "DEL c2", "end of DEL c2"));
  EXPECT_TRUE(exists(record("c1-eth0.json")));
}

TEST_F(PendingDelsTest, ADelRemovesTheRecordOfItsContainerAndInterface) {
  write_del("c1");
  write_del("c2");

  EXPECT_EQ(service_.ask("POST", "/cni", request_body(env_of("DEL", "c1"), "{}")).status, 200);

  EXPECT_FALSE(exists(record("c1-eth0.json")));
  EXPECT_TRUE(exists(record("c2-eth0.json")));
}

// Which container it is for can be read, and that is enough.
TEST_F(PendingDelsTest, ADelRemovesTheRecordEvenIfTheCoreWouldRefuseIt) {
  write_record("c1-eth0.json",
               request_body(env_of("DEL", "c1"), R"({"parallelAttach":"sometimes"})"));

  EXPECT_EQ(service_.ask("POST", "/cni", request_body(env_of("DEL", "c1"), "{}")).status, 200);

  EXPECT_FALSE(exists(record("c1-eth0.json")));
}

TEST_F(PendingDelsTest, ADelWhoseDelegatesFailKeepsTheRecordAndTheRuntimeSeesSuccess) {
  write_del("c1");
  const Error refused = cni::coded(cni::Code::kTryAgainLater, "will not");
  const std::string body = request_body(env_of("DEL", "c1"), "{}");

  end_del({.failed = refused, .is_pending = true});
  EXPECT_EQ(service_.ask("POST", "/cni", body).status, 200);
  end_del({.failed = refused, .keeps_failed = true});
  EXPECT_EQ(service_.ask("POST", "/cni", body).status, 400);

  EXPECT_TRUE(exists(record("c1-eth0.json")));
  EXPECT_TRUE(service_.lines->has("will not"));
}

TEST_F(PendingDelsTest, ADelThatIsPendingIsASuccessForTheRuntime) {
  end_del({.unreadable = cni::coded(cni::Code::kTryAgainLater, "input/output error"),
           .is_pending = true});

  const auto response = service_.ask("POST", "/cni", request_body(env_of("DEL", "c1"), "{}"));

  EXPECT_EQ(response.status, 200) << response.body;
}

// What the core is told to record is what a later round posts.
TEST_F(PendingDelsTest, ADelIsRecordedAsItWouldBePostedAgain) {
  service_.ask("POST", "/cni", request_body(env_of("DEL", "c1"), R"({"name":"x"})"));
  const attach::Request first = service_.calls().front().request;

  write_record("c1-eth0.json", first.pending_body);
  start();

  while (exists(record("c1-eth0.json"))) std::this_thread::yield();
  const attach::Request again = service_.calls().back().request;
  EXPECT_EQ(again.container_id, "c1");
  EXPECT_EQ(again.args, first.args);
  EXPECT_EQ(again.conf->name, "x");
  EXPECT_EQ(again.pending_body, "") << "it is on record already";
}

TEST_F(PendingDelsTest, WaitsLongerBeforeEachNewAttempt) {
  write_del("c1");
  fail_del(cni::coded(cni::Code::kTryAgainLater, "will not"));
  start(20ms);
  while (service_.calls().size() < 2) std::this_thread::yield();
  const auto begun = std::chrono::steady_clock::now();

  while (service_.calls().size() < 5) std::this_thread::yield();

  // 40, 80 and 160 ms, each shorter by a fifth at most.
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 224ms);
}

TEST_F(PendingDelsTest, OneThatFailsDoesNotDelayANewOne) {
  write_del("c1");
  fail_del(cni::coded(cni::Code::kTryAgainLater, "will not"));
  start();
  while (!service_.lines->has("pending DEL c1-eth0.json failed")) std::this_thread::yield();
  service_.with([](Service& inside) { inside.core.succeed("DEL"); });
  write_del("c2");

  service_.with([](Service& inside) { inside.pending.wake(); });

  while (exists(record("c1-eth0.json")) || exists(record("c2-eth0.json"))) {
    std::this_thread::yield();
  }
}

TEST_F(PendingDelsTest, ADelThatCannotEvenBeWrittenDownIsTheRuntimesToRepeat) {
  end_del({.unreadable = cni::coded(cni::Code::kTryAgainLater, "input/output error")});

  const auto response = service_.ask("POST", "/cni", request_body(env_of("DEL", "c1"), "{}"));

  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.body, HasSubstr("\"code\":11"));
  EXPECT_THAT(response.body, HasSubstr("input/output error"));
}

TEST_F(PendingDelsTest, ADelThatTheMachineLacksTheMeansForIsTheRuntimesToRepeat) {
  write_del("c1");
  fail_del(cni::coded(cni::Code::kTryAgainLater, "too many open files"));

  const auto response = service_.ask("POST", "/cni", request_body(env_of("DEL", "c1"), "{}"));

  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.body, HasSubstr("\"code\":11"));
  EXPECT_TRUE(exists(record("c1-eth0.json")));
}

TEST_F(PendingDelsTest, ARecordThatCannotBeReadStaysForTheNextRound) {
  std::filesystem::create_directories(record(""));
  std::filesystem::create_symlink(sys::kFileThatFailsToRead, record("c1-eth0.json"));
  write_del("c2");

  start(5ms);

  while (exists(record("c2-eth0.json"))) std::this_thread::yield();
  while (!service_.lines->has("pending DEL c1-eth0.json failed and is tried again in")) {
    std::this_thread::yield();
  }
  EXPECT_FALSE(exists(record("bad")));
  std::filesystem::remove(record("c1-eth0.json"));
  write_del("c1");
  while (exists(record("c1-eth0.json"))) std::this_thread::yield();
  EXPECT_EQ(std::ranges::count(service_.order(), "DEL c1"), 1);
}

TEST_F(PendingDelsTest, AReplayThatFailsForAReasonThatMayPassIsNotSetAside) {
  write_del("c1");
  fail_del(Error(Errc::kIo, "disk on fire"));

  start(5ms);

  while (service_.calls().size() < 2) std::this_thread::yield();
  EXPECT_TRUE(exists(record("c1-eth0.json")));
  EXPECT_FALSE(exists(record("bad")));
}

// What the ADD makes would be deleted by a later round.
TEST_F(PendingDelsTest, AnAddDoesNotGoOnBesideARecordThatCannotBeRead) {
  std::filesystem::create_directories(record(""));
  std::filesystem::create_symlink(sys::kFileThatFailsToRead, record("c1-eth0.json"));

  const auto response = service_.ask("POST", "/cni", request_body(env_of("ADD", "c1"), "{}"));

  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.body, HasSubstr("\"code\":11"));
  EXPECT_THAT(service_.order(), IsEmpty());
}

TEST_F(PendingDelsTest, ARecordOfAnotherPairWithTheSameNameStays) {
  // Container "c1-x" and interface "eth0" have the file name of container "c1", interface "x-eth0".
  write_record("c1-x-eth0.json", request_body(env_of("DEL", "c1-x"), "{}"));
  std::string env = env_of("DEL", "c1");
  env.replace(env.find("\"eth0\""), 6, "\"x-eth0\"");

  EXPECT_EQ(service_.ask("POST", "/cni", request_body(env, "{}")).status, 200);

  EXPECT_TRUE(exists(record("c1-x-eth0.json")));
  EXPECT_EQ(service_.calls().size(), 1u);
}

TEST_F(PendingDelsTest, AGcLooksAtTheRecordsAgain) {
  write_del("c0");
  start();
  while (exists(record("c0-eth0.json"))) std::this_thread::yield();
  write_del("c1");  // too late for the first round

  service_.ask("POST", "/cni", request_body(R"({"CNI_COMMAND":"GC"})", "{}"));

  while (exists(record("c1-eth0.json"))) std::this_thread::yield();
}

TEST_F(PendingDelsTest, LooksInEveryDirectoryThatARequestNames) {
  ServiceOptions options;
  TestService other(options);
  const std::string config = cat(R"({"cniDir":")", cni_dir(), "\"}");
  other.ask("POST", "/cni", request_body(env_of("DEL", "c0"), config));
  write_del("c1");

  other.with([](Service& inside) { inside.group.spawn("pending", inside.pending.run(1h)); });

  while (exists(record("c1-eth0.json"))) std::this_thread::yield();
}

// By hand (docs/wire.md).
TEST_F(PendingDelsTest, TellsWhatEachOneIsAbout) {
  write_del("c1");
  write_record("bad.json", "{");

  const auto all = service_.loop.run(service_.service().pending.describe({}));

  ASSERT_TRUE(all.has_value()) << all.error().text();
  const auto& records = all->records;
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].file, "bad.json");
  EXPECT_NE(records[0].why, "");
  EXPECT_EQ(records[1].container_id, "c1");
  EXPECT_EQ(records[1].ifname, "eth0");
  EXPECT_EQ(service_.loop.run(service_.service().pending.describe("c1-"))->records.size(), 1u);
}

TEST_F(PendingDelsTest, IsTriedAgainByHandAndSaysWhyItStays) {
  write_del("c1");
  fail_del(cni::coded(cni::Code::kTryAgainLater, "will not"));

  const auto failed =
      service_.loop.run(service_.service().pending.retry(cni_dir(), "c1-eth0.json"));
  service_.with([](Service& inside) { inside.core.succeed("DEL"); });
  const auto done = service_.loop.run(service_.service().pending.retry(cni_dir(), "c1-eth0.json"));
  const auto gone = service_.loop.run(service_.service().pending.retry(cni_dir(), "c1-eth0.json"));

  ASSERT_FALSE(failed.has_value());
  EXPECT_THAT(failed.error().text(), HasSubstr("will not"));
  EXPECT_TRUE(done.has_value());
  EXPECT_FALSE(exists(record("c1-eth0.json")));
  EXPECT_EQ(gone.error().code(), Errc::kNotFound);
}

// A plugin chooses what it says, and thousands of DELs may fail.
TEST_F(PendingDelsTest, RemembersTheBeginningOfALongReason) {
  write_del("c1");
  fail_del(cni::coded(cni::Code::kTryAgainLater, std::string(100'000, 'x')));

  const auto failed =
      service_.loop.run(service_.service().pending.retry(cni_dir(), "c1-eth0.json"));
  const auto all = service_.loop.run(service_.service().pending.describe({}));

  ASSERT_FALSE(failed.has_value());
  ASSERT_EQ(all->records.size(), 1u);
  EXPECT_LT(all->records[0].why.size(), 1100u);
}

TEST_F(PendingDelsTest, SaysByHandThatItIsNoLongerTried) {
  write_record("bad.json", "{");

  const auto tried = service_.loop.run(service_.service().pending.retry(cni_dir(), "bad.json"));

  EXPECT_FALSE(exists(record("bad.json")));
  EXPECT_THAT(tried.error().text(), HasSubstr("no longer tried"));
}

TEST_F(PendingDelsTest, IsGivenUpByHandWithoutAPlugin) {
  write_del("c1");

  const auto dropped =
      service_.loop.run(service_.service().pending.drop(cni_dir(), "c1-eth0.json"));

  EXPECT_TRUE(dropped.has_value());
  EXPECT_FALSE(exists(record("c1-eth0.json")));
  EXPECT_THAT(service_.calls(), IsEmpty());
  EXPECT_TRUE(service_.lines->has("the pending DEL c1-eth0.json was given up by hand"));
}

}  // namespace
}  // namespace mnet::daemon
