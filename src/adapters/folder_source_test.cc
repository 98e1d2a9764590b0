// The folder source with real folders, real inotify and the event loop.
#include "adapters/folder_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/test_log.h"
#include "base/text.h"
#include "json/json.h"
#include "model/objects.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::adapters {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kLong = 60s;  // a failure, not a wait

std::string pod(const std::string& name, const std::string& uid, const std::string& more = "") {
  return cat("{apiVersion: v1, kind: Pod, metadata: {name: ", name, ", namespace: ns1, uid: '", uid,
             "'", more, "}}\n---\n");
}

std::string network(const std::string& name, const std::string& config) {
  return cat(
      "{apiVersion: k8s.cni.cncf.io/v1, kind: NetworkAttachmentDefinition, metadata: {name: ", name,
      ", namespace: ns1}, spec: {config: '", config, "'}}\n---\n");
}

struct Found {
  Result<model::PodObjectPtr> pod = Error(Errc::kBug, "not ended");
};

// The test owns what is filled in, and joins the group before it ends.
aio::Task<void> keep(aio::Task<model::PodObjectPtr> task, Found* into) {
  auto pod = co_await std::move(task);
  into->pod = std::move(pod);
  co_return Result<void>();
}

class FolderSourceTest : public testing::Test {
 protected:
  FolderSourceTest() { std::filesystem::create_directory(path); }
  ~FolderSourceTest() override {
    group.cancel();
    const auto deadline = std::chrono::steady_clock::now() + kLong;
    EXPECT_TRUE(aio::run(loop, group.join(deadline)).has_value());
    EXPECT_TRUE(aio::run(loop, source.flush(deadline)).has_value());
  }

  void start() {
    group.spawn("folder", source.follow());
    ASSERT_TRUE(
        aio::run(loop, source.wait_loaded(std::chrono::steady_clock::now() + kLong)).has_value());
  }
  Result<model::PodObjectPtr> find_pod(const std::string& name, const std::string& uid,
                                       std::chrono::milliseconds wait = 0ms) {
    return aio::run(loop, source.find_pod({.ns = "ns1", .name = name, .uid = uid, .wait = wait}));
  }
  Result<model::NetworkDefinitionPtr> find_network(const std::string& ns, const std::string& name) {
    return aio::run(loop, source.find_network({.ns = ns, .name = name}));
  }
  // Whether the file is removed in the end.
  bool goes(const std::string& file) {
    const auto deadline = std::chrono::steady_clock::now() + kLong;
    while (std::filesystem::exists(file) && std::chrono::steady_clock::now() < deadline) {
      (void)loop.run_one_for(10ms);
    }
    return !std::filesystem::exists(file);
  }
  model::PodObjectPtr the_pod(const std::string& name) {
    auto found = find_pod(name, "", kLong);
    EXPECT_TRUE(found.has_value()) << found.error().text();
    return found ? *found : nullptr;
  }

  const sys::TestDir dir;
  const std::string path = dir / "objects";
  aio::asio::io_context loop{1};
  aio::BlockingPool pool{2};
  std::shared_ptr<TestLog> lines = std::make_shared<TestLog>();
  Log log{{lines}, LogLevel::kVerbose};
  const FolderSettings settings{.timing = {.settling = 1ms, .pause = 1ms}, .sweeps = true};
  FolderSource source{loop.get_executor(), path, pool, log, settings};
  aio::Group group{loop.get_executor(), log};
};

TEST_F(FolderSourceTest, FindsAPodWithItsAnnotations) {
  dir.write("objects/a.yaml",
            pod("web", "u1", ", resourceVersion: '7', annotations: {k: v, empty: ''}"));
  start();

  const auto found = find_pod("web", "u1");

  ASSERT_TRUE(found.has_value()) << found.error().text();
  ASSERT_NE(*found, nullptr);
  EXPECT_EQ((*found)->ns, "ns1");
  EXPECT_EQ((*found)->uid, "u1");
  EXPECT_EQ((*found)->resource_version, "7");
  EXPECT_EQ(*(*found)->annotation("k"), "v");
  EXPECT_EQ(*(*found)->annotation("empty"), "");
  EXPECT_EQ((*found)->annotation("other"), nullptr);
  EXPECT_FALSE(source.is_complete());
}

// A daemon that starts while descriptors are short would attach pods without their networks.
TEST_F(FolderSourceTest, APodOfAFileThatCannotBeReadIsNotAbsent) {
  dir.write("objects/a.yaml", pod("web", "u1"));
  const std::string other = dir / "objects/b.yaml";
  std::filesystem::create_symlink("/proc/self/mem", other);  // reading its beginning fails
  start();

  EXPECT_NE(find_pod("web", "u1").value(), nullptr);
  const auto unknown = find_pod("db", "u2", 1ms);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code(), Errc::kUnavailable);
  EXPECT_THAT(unknown.error().text(), HasSubstr("b.yaml"));
  const auto network = find_network("ns1", "lan");
  ASSERT_FALSE(network.has_value());
  EXPECT_EQ(network.error().code(), Errc::kUnavailable);

  std::filesystem::remove(other);
  dir.write("elsewhere.yaml", pod("db", "u2"));
  std::filesystem::rename(dir / "elsewhere.yaml", other);

  EXPECT_NE(find_pod("db", "u2", kLong).value(), nullptr);
}

TEST_F(FolderSourceTest, TellsOfChangesByKey) {
  std::vector<std::string> told;
  source.observe({.pod =
                      [&](const auto& before, const auto& now) {
                        told.push_back(cat(before == nullptr ? "new " : "other ", now->key()));
                      },
                  .network = [&](const std::string& key) { told.push_back(cat("net ", key)); }});
  dir.write("objects/a.yaml", pod("p1", "u1"));
  start();
  const auto until_told = [&](std::size_t count) {
    const auto deadline = std::chrono::steady_clock::now() + kLong;
    while (told.size() < count && std::chrono::steady_clock::now() < deadline) {
      loop.restart();
      (void)loop.run_one_for(10ms);
    }
  };
  until_told(1);

  dir.write("objects/b.yaml", network("n1", "{}"));
  until_told(2);
  dir.write("objects/a.yaml", pod("p1", "u1", ", annotations: {a: b}"));
  until_told(3);

  EXPECT_THAT(told, ElementsAre("new ns1/p1", "net ns1/n1", "other ns1/p1"));
}

TEST_F(FolderSourceTest, FindsNoPodThatIsInNoFile) {
  start();

  const auto found = find_pod("web", "u1", 1ms);

  ASSERT_TRUE(found.has_value()) << found.error().text();
  EXPECT_EQ(*found, nullptr);
}

// 02, 5.2: no UID fits every pod, on either side; a static pod's object is a mirror.
TEST_F(FolderSourceTest, TakesAUidThatFits) {
  dir.write("objects/a.yaml",
            cat(pod("named", "u1"), pod("nameless", ""),
                pod("mirror", "m1", ", annotations: {kubernetes.io/config.source: file}")));
  start();

  EXPECT_NE(find_pod("named", "").value(), nullptr);
  EXPECT_NE(find_pod("nameless", "u9").value(), nullptr);
  const auto mirror = find_pod("mirror", "u9").value();
  ASSERT_NE(mirror, nullptr);
  EXPECT_TRUE(mirror->is_static);
  EXPECT_EQ(mirror->uid, "m1");
}

// 02, 12: row 115
TEST_F(FolderSourceTest, RefusesAPodOfAnotherUid) {
  dir.write("objects/a.yaml", pod("web", "u2"));
  start();

  const auto found = find_pod("web", "u1", 1ms);

  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code(), Errc::kConflict);
  EXPECT_EQ(found.error().text(), R"(expected pod UID "u1" but got "u2" from Kube API)");
}

// 02, 12: rows 114 and 161: the event ends the wait, whatever the limit.
TEST_F(FolderSourceTest, WaitsForThePodOnTheFoldersEvent) {
  dir.write("objects/a.yaml", pod("web", "old"));
  start();
  Found web, db;
  group.spawn("web",
              keep(source.find_pod({.ns = "ns1", .name = "web", .uid = "new", .wait = 1h}), &web));
  group.spawn("db",
              keep(source.find_pod({.ns = "ns1", .name = "db", .uid = "d", .wait = 1h}), &db));

  dir.write("objects/a.yaml", cat(pod("web", "new"), pod("db", "d")));
  const auto mark = find_pod("web", "new", kLong);

  ASSERT_TRUE(mark.has_value()) << mark.error().text();
  // Both were woken by the same event, before the one that was asked last.
  ASSERT_TRUE(web.pod.has_value()) << web.pod.error().text();
  EXPECT_EQ((*web.pod)->uid, "new");
  ASSERT_TRUE(db.pod.has_value()) << db.pod.error().text();
  EXPECT_EQ((*db.pod)->name, "db");
}

TEST_F(FolderSourceTest, AWaitBeyondAllClocksIsNoOverflow) {
  dir.write("objects/a.yaml", pod("web", ""));
  start();

  EXPECT_NE(find_pod("web", "", std::chrono::milliseconds::max()).value(), nullptr);
}

TEST_F(FolderSourceTest, FindsNetworksWordForWord) {
  dir.write("objects/a.yaml", network("mac1", R"( {"type":"macvlan"} )"));
  start();

  const auto found = find_network("ns1", "mac1");

  ASSERT_TRUE(found.has_value()) << found.error().text();
  ASSERT_NE(*found, nullptr);
  EXPECT_EQ((*found)->config, R"( {"type":"macvlan"} )");
  EXPECT_EQ(find_network("ns2", "mac1").value(), nullptr);
}

// 02, 12: row 39
TEST_F(FolderSourceTest, DoesNotLookForNamesThatCannotExist) {
  start();

  EXPECT_EQ(find_network("ns1", "../../secrets").value(), nullptr);
  EXPECT_EQ(find_network("a.b", "mac1").value(), nullptr);
  EXPECT_EQ(find_network("", "").value(), nullptr);
}

// 02, 12: row 49: what no event has told of yet counts.
TEST_F(FolderSourceTest, ReadsTheFolderAgainForANetworkItDoesNotKnow) {
  FolderSource slow(loop.get_executor(), path, pool, log,
                    {.timing = {.settling = 1h, .pause = 1h}});
  group.spawn("slow", slow.follow());
  ASSERT_TRUE(
      aio::run(loop, slow.wait_loaded(std::chrono::steady_clock::now() + kLong)).has_value());
  dir.write("objects/a.yaml", network("mac1", "{}"));

  const auto found = aio::run(loop, slow.find_network({.ns = "ns1", .name = "mac1"}));

  ASSERT_TRUE(found.has_value()) << found.error().text();
  EXPECT_NE(*found, nullptr);
  group.cancel();
  ASSERT_TRUE(aio::run(loop, group.join()).has_value());
}

TEST_F(FolderSourceTest, WaitsForTheFirstReading) {
  dir.write("objects/a.yaml", cat(pod("web", "u1"), network("mac1", "{}")));
  group.spawn("folder", source.follow());

  EXPECT_NE(find_network("ns1", "mac1").value(), nullptr);
  EXPECT_NE(find_pod("web", "u1").value(), nullptr);
}

TEST_F(FolderSourceTest, WritesTheStatusBesideTheManifests) {
  dir.write("objects/a.yaml", pod("web", "u1"));
  start();

  const auto written = aio::run(loop, source.write_status(the_pod("web"), "[{}]", Log()));

  ASSERT_TRUE(written.has_value()) << written.error().text();
  const auto file = json::parse_object(sys::read_file(path + "/status/ns1/web.json").value());
  ASSERT_TRUE(file.has_value());
  EXPECT_THAT(json::dump(*file), HasSubstr(R"("k8s.v1.cni.cncf.io/network-status":"[{}]")"));
  EXPECT_THAT(json::dump(*file), HasSubstr(R"("uid":"u1")"));
}

TEST_F(FolderSourceTest, FindsTheStatusThatWasWrittenLast) {
  dir.write("objects/a.yaml", cat(pod("web", "u1"), pod("db", "u2")));
  start();
  const auto web = the_pod("web");
  EXPECT_FALSE(aio::run(loop, source.find_status(web)).value().has_value());

  ASSERT_TRUE(aio::run(loop, source.write_status(web, "[1]", Log())).has_value());
  ASSERT_TRUE(aio::run(loop, source.write_status(web, "[2]", Log())).has_value());

  EXPECT_EQ(aio::run(loop, source.find_status(web)).value(), "[2]");
  EXPECT_FALSE(aio::run(loop, source.find_status(the_pod("db"))).value().has_value());
  EXPECT_FALSE(source.clients_keep_status());
}

TEST_F(FolderSourceTest, FindsNoStatusOfAnEarlierPodOfThatName) {
  dir.write("objects/a.yaml", pod("web", "u1"));
  start();
  ASSERT_TRUE(aio::run(loop, source.write_status(the_pod("web"), "[1]", Log())).has_value());
  dir.write("objects/a.yaml", pod("web", "u2"));
  const auto web = find_pod("web", "u2", kLong).value();

  EXPECT_FALSE(aio::run(loop, source.find_status(web)).value().has_value());
  ASSERT_TRUE(sys::replace_file(path + "/status/ns1/web.json", "{}", 0644).has_value());
  EXPECT_EQ(aio::run(loop, source.find_status(web)).error().code(), Errc::kProtocol);
}

TEST_F(FolderSourceTest, ForgetsTheStatusOfAPodThatGoes) {
  dir.write("objects/a.yaml", cat(pod("web", "u1"), pod("db", "u2")));
  start();
  ASSERT_TRUE(aio::run(loop, source.write_status(the_pod("web"), "[1]", Log())).has_value());
  ASSERT_TRUE(aio::run(loop, source.write_status(the_pod("db"), "[2]", Log())).has_value());

  dir.write("objects/a.yaml", cat(pod("db", "u2"), pod("mark", "")));
  the_pod("mark");

  EXPECT_TRUE(goes(path + "/status/ns1/web.json"));
  EXPECT_EQ(aio::run(loop, source.find_status(the_pod("db"))).value(), "[2]");
}

TEST_F(FolderSourceTest, ForgetsTheStatusOfAPodThatWentWhileNothingRan) {
  const std::string gone = "objects/status/ns1/gone.json";
  const std::string living = "objects/status/ns1/web.json";
  const std::string of_others = "objects/status/ns1/notes.json";
  const std::string status =
      R"({"metadata":{"annotations":{"k8s.v1.cni.cncf.io/network-status":"[]"}}})";
  dir.write("objects/a.yaml", pod("web", "u1"));
  for (const std::string& file : {gone, living}) dir.write(file, status);
  dir.write(of_others, "{}");

  start();

  EXPECT_TRUE(goes(dir / gone));
  EXPECT_TRUE(std::filesystem::exists(dir / living));
  EXPECT_TRUE(std::filesystem::exists(dir / of_others));
}

// 02, 12: row 104
TEST_F(FolderSourceTest, WritesNoStatusOfAPodThatIsGone) {
  dir.write("objects/a.yaml", pod("web", "u1"));
  start();
  const auto web = the_pod("web");
  dir.write("objects/a.yaml", pod("other", "u2"));
  the_pod("other");

  const auto written = aio::run(loop, source.write_status(web, "[{}]", Log()));

  EXPECT_TRUE(written.has_value());
  EXPECT_FALSE(std::filesystem::exists(path + "/status"));
}

// 02, 12: row 105
TEST_F(FolderSourceTest, RefusesTheStatusOfAPodThatWasReplaced) {
  dir.write("objects/a.yaml", pod("web", "u1"));
  start();
  const auto web = the_pod("web");
  dir.write("objects/a.yaml", pod("web", "u2"));
  ASSERT_NE(find_pod("web", "u2", kLong).value(), nullptr);

  const auto written = aio::run(loop, source.write_status(web, "[{}]", Log()));

  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code(), Errc::kConflict);
  EXPECT_FALSE(std::filesystem::exists(path + "/status"));
}

std::vector<std::string> members(const std::string& path, std::string_view member) {
  std::vector<std::string> found;
  for (const std::string_view line : split(sys::read_file(path).value_or(""), '\n')) {
    const auto event = json::parse_object(line);
    if (event) found.push_back(json::dump(*event->find(member)));
  }
  return found;
}

TEST_F(FolderSourceTest, WritesEventsInTheirOrder) {
  dir.write("objects/a.yaml", pod("web", "u1"));
  start();
  const auto web = the_pod("web");

  source.send({.pod = web, .is_warning = false, .reason = "AddedInterface", .message = "one"});
  source.send({.pod = web, .is_warning = true, .reason = "NoNetworkFound", .message = "two"});
  source.send({.pod = web, .is_warning = true, .reason = "NoNetworkFound", .message = "two"});
  source.send({.pod = nullptr, .is_warning = true, .reason = "x", .message = "of no pod"});
  ASSERT_TRUE(aio::run(loop, source.flush(std::chrono::steady_clock::now() + kLong)).has_value());

  const std::string file = path + "/events.jsonl";
  EXPECT_THAT(members(file, "message"), ElementsAre(R"("one")", R"("two")", R"("two")"));
  EXPECT_THAT(members(file, "type"), ElementsAre(R"("Normal")", R"("Warning")", R"("Warning")"));
  EXPECT_THAT(members(file, "count"), ElementsAre("1", "1", "2"));
}

// 02, 5.6: sending can neither delay nor fail a request; overflow drops events.
TEST_F(FolderSourceTest, DropsEventsThatComeFasterThanTheDiskTakesThem) {
  dir.write("objects/a.yaml", pod("web", "u1"));
  start();
  const auto web = the_pod("web");

  // All before the loop runs again: the first goes to the pool, kMostWaiting wait behind it.
  for (std::size_t i = 0; i < FolderSource::kMostWaiting + 11; ++i) {
    source.send({.pod = web, .is_warning = false, .reason = "r", .message = cat("m", i)});
  }
  ASSERT_TRUE(aio::run(loop, source.flush(std::chrono::steady_clock::now() + kLong)).has_value());

  const auto written = members(path + "/events.jsonl", "message").size();
  EXPECT_GE(written, FolderSource::kMostWaiting);
  EXPECT_LT(written, FolderSource::kMostWaiting + 11);
  EXPECT_THAT(lines->lines(), Contains(HasSubstr("events arrive faster than")).Times(1));
  EXPECT_THAT(lines->lines(), Contains(HasSubstr("events were dropped")));
}

TEST_F(FolderSourceTest, AFolderThatCannotBeWrittenFailsNoEvent) {
  dir.write("objects/a.yaml", pod("web", "u1"));
  start();
  const auto web = the_pod("web");
  std::filesystem::create_directory(path + "/events.jsonl");

  source.send({.pod = web, .is_warning = false, .reason = "AddedInterface", .message = "one"});
  ASSERT_TRUE(aio::run(loop, source.flush(std::chrono::steady_clock::now() + kLong)).has_value());

  EXPECT_THAT(lines->lines(), Contains(HasSubstr("events are only logged")));
}

}  // namespace
}  // namespace mnet::adapters
