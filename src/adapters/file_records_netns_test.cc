// How an ADD begins and ends, with real files and a real network namespace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/file_records.h"
#include "aio/blocking_pool.h"
#include "aio/run.h"
#include "attach/ports.h"
#include "base/durability.h"
#include "base/netns_id.h"
#include "base/result.h"
#include "base/text.h"
#include "cni/cache.h"
#include "json/json.h"
#include "sys/file.h"
#include "sys/test_dir.h"
#include "sys/test_limits.h"
#include "sys/test_netns.h"

namespace mnet::adapters {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class AddRecordsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(pod_.is_fresh()) << "needs the right to make network namespaces";
  }
  Result<attach::AddStarted> begin(const std::string& cni_dir, std::string netns,
                                   std::vector<std::string> ifnames = {"eth0"}) {
    attach::AddStart start;
    start.cni_dir = cni_dir;
    start.container_id = "c1";
    start.netns = std::move(netns);
    start.ifnames = std::move(ifnames);
    start.delegates = [] { return json::Array{json::Object{{"Name", "a"}}}; };
    start.record = [](const NetnsId& netns) {
      return json::Object{{"inode", json::Number::of_text(cat(netns.inode))}};
    };
    return aio::run(loop_, records_.begin_add(std::move(start)));
  }
  Result<attach::AddEnded> end(const std::string& cni_dir, std::vector<cni::CacheKey> in_place,
                               std::optional<cni::CacheEntry> result) {
    attach::AddEnd end;
    end.cni_dir = cni_dir;
    end.container_id = "c1";
    end.in_place = std::move(in_place);
    end.result = [result = std::move(result)] { return result; };
    end.record = [] { return json::Object{{"state", "ready"}}; };
    return aio::run(loop_, records_.end_add(std::move(end)));
  }
  static cni::CacheEntry entry(const std::string& network) {
    cni::CacheEntry made;
    made.container_id = "c1";
    made.network = network;
    made.ifname = "eth0";
    made.result = json::Value(json::Object{{"cniVersion", "1.0.0"}});
    return made;
  }
  bool exists(const std::string& path) { return std::filesystem::exists(dir_ / path); }

  sys::TestNetNs pod_;
  sys::TestDir dir_;
  aio::asio::io_context loop_{1};
  aio::BlockingPool pool_{2};
  FileRecords records_{pool_, ""};
};

TEST_F(AddRecordsTest, AnAddBeginsWithBothFilesOnceItsNamesAreFree) {
  auto begun = begin(dir_.path(), pod_.path());

  ASSERT_TRUE(begun) << begun.error().text();
  EXPECT_TRUE(begun->scratch && begun->record);
  EXPECT_EQ(sys::read_file(dir_ / "c1").value(), R"([{"Name":"a"}])");
  EXPECT_EQ(sys::read_file(dir_ / "_attachments/c1.json").value(),
            cat(R"({"inode":)", begun->seen.netns.inode, "}"));
}

TEST_F(AddRecordsTest, ATakenNameOrNoNamespaceWritesNothing) {
  auto taken = begin(dir_.path(), pod_.path(), {"eth0", "lo"});
  auto nowhere = begin(dir_.path(), "/not/there");

  ASSERT_TRUE(taken) << taken.error().text();
  EXPECT_THAT(taken->seen.taken, ElementsAre("lo"));
  EXPECT_THAT(nowhere.error().text(), HasSubstr("no net namespace /not/there found"));
  EXPECT_FALSE(exists("c1"));
  EXPECT_FALSE(exists("_attachments"));
}

TEST_F(AddRecordsTest, AnAddSaysWhichFileCouldNotBeWritten) {
  std::filesystem::create_directories(dir_ / "scratch/c1");
  dir_.write("record/_attachments", "a file");

  auto no_scratch = begin(dir_ / "scratch", pod_.path());
  auto no_record = begin(dir_ / "record", pod_.path());

  EXPECT_FALSE(no_scratch.value().scratch);
  EXPECT_FALSE(exists("scratch/_attachments/c1.json"));
  EXPECT_TRUE(no_record.value().scratch);
  EXPECT_FALSE(no_record.value().record);
}

TEST_F(AddRecordsTest, AnAddEndsWithItsLastResultAndTheRecord) {
  ASSERT_TRUE(
      aio::run(loop_, records_.write_result(dir_.path(), entry("n"), Durability::kInPlace)));

  auto ended = end(dir_.path(), {{"n", "c1", "eth0"}, {"gone", "c1", "eth0"}}, entry("m"));

  ASSERT_TRUE(ended) << ended.error().text();
  EXPECT_TRUE(ended->result && ended->synced && ended->record);
  EXPECT_TRUE(exists("results/m-c1-eth0"));
  EXPECT_EQ(sys::read_file(dir_ / "_attachments/c1.json").value(), R"({"state":"ready"})");
}

TEST_F(AddRecordsTest, AnAddWhoseStatusIsOnItsWayKeepsItsRecordUntilItIsCompleted) {
  ASSERT_TRUE(begin(dir_.path(), pod_.path()));
  const std::string record = dir_ / "_attachments/c1.json";
  const std::string begun = sys::read_file(record).value();
  attach::AddEnd half;
  half.cni_dir = dir_.path();
  half.container_id = "c1";
  half.result = [] { return std::optional(entry("m")); };

  auto ended = aio::run(loop_, records_.end_add(std::move(half)));
  ASSERT_TRUE(ended && ended->result && ended->synced && ended->record);
  EXPECT_TRUE(exists("results/m-c1-eth0"));
  EXPECT_EQ(sys::read_file(record).value(), begun);

  ASSERT_TRUE(aio::run(loop_, records_.complete_add(dir_.path(), "c1", [] {
    return json::Object{{"state", "ready"}};
  })));
  EXPECT_EQ(sys::read_file(record).value(), R"({"state":"ready"})");
}

// 05, 3.2
TEST_F(AddRecordsTest, ARecordThatCannotBeCompletedGoes) {
  ASSERT_TRUE(begin(dir_.path(), pod_.path()));
  const sys::DescriptorLimit none(0);

  EXPECT_FALSE(aio::run(loop_, records_.complete_add(dir_.path(), "c1", [] {
    return json::Object{{"state", "ready"}};
  })));
  EXPECT_FALSE(exists("_attachments/c1.json"));
}

TEST_F(AddRecordsTest, WithoutItsLastResultAnAddIsNotReady) {
  dir_.write("results", "a file");
  dir_.write("record/_attachments", "a file");

  auto no_result = end(dir_.path(), {}, entry("m"));
  auto no_record = end(dir_ / "record", {}, entry("m"));
  auto no_sync = end(dir_ / "sync", {{"", "c1", "eth0"}}, std::nullopt);

  EXPECT_FALSE(no_result.value().result);
  EXPECT_FALSE(exists("_attachments/c1.json"));
  EXPECT_TRUE(no_record.value().result);
  EXPECT_FALSE(no_record.value().record);
  EXPECT_FALSE(no_sync.value().synced);
}

}  // namespace
}  // namespace mnet::adapters
