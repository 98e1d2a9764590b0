#include "adapters/file_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/run.h"
#include "aio/task.h"
#include "attach/ports.h"
#include "attach/room.h"
#include "base/address_family.h"
#include "base/durability.h"
#include "base/error.h"
#include "base/result.h"
#include "cni/address.h"
#include "cni/cache.h"
#include "json/json.h"
#include "model/default_routes.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::adapters {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class FileRecordsTest : public testing::Test {
 protected:
  template <typename T>
  Result<T> run(aio::Task<T> task) {
    return aio::run(loop_, std::move(task));
  }
  Result<std::optional<json::Array>> find_scratch(const std::string& cni_dir) {
    return run(records_.load(cni_dir, "c1", attach::RecordParts::kOfEarlierAdd, attach::kAnyWeight))
        ->scratch;
  }
  Result<std::optional<json::Object>> find_record(const std::string& cni_dir) {
    return run(records_.load(cni_dir, "c1", attach::RecordParts::kRecord, attach::kAnyWeight))
        ->record;
  }
  Result<attach::CacheListing> list_results(const std::string& container_id) {
    return run(records_.load(dir_.path(), container_id, attach::RecordParts::kAll,
                             attach::kAnyWeight))
        ->results;
  }
  std::vector<std::string> containers(const std::string& cni_dir) {
    return run(records_.list(cni_dir)).value();
  }
  // Whether both files are dealt with.
  static bool is_done(const Result<attach::RecordsDone>& done) {
    return done && done->scratch && done->record;
  }
  static cni::CacheEntry entry(const std::string& container_id, const std::string& network,
                               const std::string& ifname) {
    cni::CacheEntry made;
    made.container_id = container_id;
    made.network = network;
    made.ifname = ifname;
    made.netns = "/ns";
    made.config = R"({"name":"n","type":"t"})";
    made.cni_args = {{"A", "b"}};
    made.capability_args = {{"mac", "aa"}};
    made.result = json::Value(json::Object{{"cniVersion", "1.0.0"}});
    return made;
  }
  void write_result_file(const std::string& name, const std::string& text) {
    dir_.write("results/" + name, text);
  }
  bool exists(const std::string& path) { return std::filesystem::exists(dir_ / path); }

  sys::TestDir dir_;
  aio::asio::io_context loop_{1};
  aio::BlockingPool pool_{2};
  FileRecords records_{pool_, ""};
};

TEST_F(FileRecordsTest, ScratchFilesComeAndGo) {
  const std::string cni_dir = dir_ / "cni";
  const json::Array delegates{json::Object{{"Name", "a"}}};
  EXPECT_FALSE(*find_scratch(cni_dir));
  EXPECT_THAT(containers(cni_dir), IsEmpty());

  ASSERT_TRUE(is_done(run(records_.save(cni_dir, "c1", {.scratch = delegates}))));
  ASSERT_TRUE(run(records_.sync(cni_dir, "c1", {})));

  EXPECT_EQ(json::Value(**find_scratch(cni_dir)), json::Value(delegates));
  EXPECT_EQ(sys::read_file(cni_dir + "/c1").value(), R"([{"Name":"a"}])");
  EXPECT_THAT(containers(cni_dir), ElementsAre("c1"));
  ASSERT_TRUE(is_done(run(records_.remove(cni_dir, "c1"))));
  EXPECT_FALSE(*find_scratch(cni_dir));
  EXPECT_TRUE(is_done(run(records_.remove(cni_dir, "c1"))));
}

TEST_F(FileRecordsTest, ADamagedScratchFileIsAnError) {
  dir_.write("c1", "{\"tr");
  EXPECT_EQ(find_scratch(dir_.path()).error().code(), Errc::kProtocol);
}

TEST_F(FileRecordsTest, ResultsComeAndGo) {
  ASSERT_TRUE(
      run(records_.write_result(dir_.path(), entry("c1", "n", "eth0"), Durability::kInPlace)));
  ASSERT_TRUE(
      run(records_.write_result(dir_.path(), entry("c1", "m", "net1"), Durability::kInPlace)));
  ASSERT_TRUE(
      run(records_.write_result(dir_.path(), entry("c2", "n", "eth0"), Durability::kDurable)));
  ASSERT_TRUE(run(records_.sync(dir_.path(), "c1", {{"n", "c1", "eth0"}, {"m", "c1", "net1"}})));

  EXPECT_EQ((*run(records_.find_result(dir_.path(), {"n", "c1", "eth0"})))->result,
            json::Value(json::Object{{"cniVersion", "1.0.0"}}));
  auto listed = list_results("c1");
  ASSERT_EQ(listed->entries.size(), 2u);
  EXPECT_EQ(listed->entries[0].network, "m");
  EXPECT_EQ(listed->entries[1].config, R"({"name":"n","type":"t"})");
  EXPECT_THAT(listed->entries[1].cni_args, ElementsAre(testing::Pair("A", "b")));
  EXPECT_EQ(listed->entries[1].capability_args.size(), 1u);
  EXPECT_TRUE(listed->entries[1].result);
  const auto all = run(records_.list_results(dir_.path()));
  ASSERT_NE(all->find("c1"), nullptr);
  EXPECT_THAT(all->find("c1")->attachments, testing::SizeIs(2));
  EXPECT_THAT(all->containers, testing::SizeIs(2));

  ASSERT_TRUE(run(records_.remove_result(dir_.path(), {"n", "c1", "eth0"})));
  EXPECT_FALSE(*run(records_.find_result(dir_.path(), {"n", "c1", "eth0"})));
  EXPECT_TRUE(run(records_.remove_result(dir_.path(), {"n", "c1", "eth0"})));
}

TEST_F(FileRecordsTest, SyncOfNothingSucceeds) {
  EXPECT_TRUE(run(records_.sync(dir_.path(), "c1", {})));
  EXPECT_TRUE(run(records_.sync(dir_.path(), "c1", {{"n", "c1", "eth0"}})));
}

// 02, 7.3 step 2
TEST_F(FileRecordsTest, SweepsOnlyWhatNobodyCanReadAndNobodyOwns) {
  ASSERT_TRUE(
      run(records_.write_result(dir_.path(), entry("gone", "n", "eth0"), Durability::kInPlace)));
  write_result_file("x-gone-eth0", "{\"tr");
  write_result_file("x-c1-eth0", "");
  write_result_file("legacy-gone-eth0", R"({"cniVersion":"0.2.0"})");
  write_result_file(".multus-tmp-1", "");
  // Of other programs.
  write_result_file("README", "");
  write_result_file("notes-of-mine", "not an entry");

  EXPECT_THAT(*run(records_.sweep(dir_.path(), {"c1"})), ElementsAre("x-gone-eth0"));

  EXPECT_FALSE(exists("results/x-gone-eth0"));
  EXPECT_TRUE(exists("results/x-c1-eth0"));
  EXPECT_TRUE(exists("results/legacy-gone-eth0"));
  EXPECT_TRUE(exists("results/n-gone-eth0"));
  EXPECT_TRUE(exists("results/.multus-tmp-1"));
  EXPECT_TRUE(exists("results/README"));
  EXPECT_TRUE(exists("results/notes-of-mine"));
  EXPECT_THAT(*run(records_.sweep(dir_ / "none", {})), IsEmpty());
}

TEST_F(FileRecordsTest, AttachmentRecordsComeAndGo) {
  const json::Object record{{"version", 1}};
  EXPECT_FALSE(*find_record(dir_.path()));
  EXPECT_THAT(containers(dir_.path()), IsEmpty());

  ASSERT_TRUE(is_done(run(records_.save(dir_.path(), "c1", {.record = record}))));
  ASSERT_TRUE(is_done(run(records_.save(dir_.path(), "c2", {.record = record}))));

  EXPECT_EQ(json::Value(**find_record(dir_.path())), json::Value(record));
  EXPECT_THAT(containers(dir_.path()), ElementsAre("c1", "c2"));
  ASSERT_TRUE(is_done(run(records_.remove(dir_.path(), "c1"))));
  EXPECT_THAT(containers(dir_.path()), ElementsAre("c2"));
  EXPECT_TRUE(is_done(run(records_.remove(dir_.path(), "c1"))));
}

TEST_F(FileRecordsTest, ADamagedAttachmentRecordIsAnError) {
  dir_.write("_attachments/c1.json", "{\"ver");
  EXPECT_EQ(find_record(dir_.path()).error().code(), Errc::kProtocol);
}

// An earlier ADD begins with its scratch file: without one the results are not read.
TEST_F(FileRecordsTest, AllIsLoadedOfAnEarlierAddAndOnlyTheRecordElsewhere) {
  const auto load = [&](attach::RecordParts parts) {
    return *run(records_.load(dir_.path(), "c1", parts, attach::kAnyWeight));
  };
  ASSERT_TRUE(
      run(records_.write_result(dir_.path(), entry("c1", "n", "eth0"), Durability::kInPlace)));
  dir_.write("_attachments/c1.json", "{}");

  EXPECT_THAT(load(attach::RecordParts::kAll).results->entries, testing::SizeIs(1));
  EXPECT_THAT(load(attach::RecordParts::kOfEarlierAdd).results->entries, IsEmpty());
  EXPECT_TRUE(*load(attach::RecordParts::kOfEarlierAdd).record);
  dir_.write("c1", "[]");
  EXPECT_THAT(load(attach::RecordParts::kOfEarlierAdd).results->entries, testing::SizeIs(1));
  EXPECT_FALSE(*load(attach::RecordParts::kRecord).scratch);
}

TEST_F(FileRecordsTest, BothFilesAreRemoved) {
  dir_.write("c1", "[]");
  dir_.write("_attachments/c1.json", "{}");

  ASSERT_TRUE(is_done(run(records_.remove(dir_.path(), "c1"))));

  EXPECT_FALSE(exists("c1"));
  EXPECT_FALSE(exists("_attachments/c1.json"));
  EXPECT_TRUE(is_done(run(records_.remove(dir_.path(), "c1"))));
}

// 05, 3.2
TEST_F(FileRecordsTest, ARecordThatCannotBeRemovedDoesNotKeepTheScratchFile) {
  dir_.write("c1", "[]");
  std::filesystem::create_directories(dir_ / "_attachments/c1.json");

  const auto removed = run(records_.remove(dir_.path(), "c1"));

  EXPECT_FALSE(removed->record);
  EXPECT_TRUE(removed->scratch);
  EXPECT_FALSE(exists("c1"));
}

// 02, 12: row 94, the cached results.
TEST_F(FileRecordsTest, RoutesOfOneResultAreEditedPerFamily) {
  cni::CacheEntry made = entry("c1", "n", "eth0");
  made.result =
      json::parse(R"({"cniVersion":"1.0.0","routes":[{"dst":"0.0.0.0/0","gw":"10.0.0.1"},)"
                  R"({"dst":"::0/0"},{"dst":"10.0.0.0/8"}]})")
          .value();
  ASSERT_TRUE(run(records_.write_result(dir_.path(), made, Durability::kInPlace)));
  const auto routes = [&] {
    const auto result = *run(records_.find_result(dir_.path(), {"n", "c1", "eth0"}));
    return json::dump(*result->result.as_object()->find("routes"));
  };
  const auto gateway = [](const char* text) { return cni::IpAddress::parse(text).value(); };

  ASSERT_TRUE(run(records_.edit_routes(dir_.path(), {"n", "c1", "eth0"},
                                       {.remove = {AddressFamily::kV6}, .add = {}})));
  EXPECT_EQ(routes(), R"([{"dst":"0.0.0.0/0","gw":"10.0.0.1"},{"dst":"10.0.0.0/8"}])");
  ASSERT_TRUE(run(records_.edit_routes(
      dir_.path(), {"n", "c1", "eth0"},
      {.remove = {AddressFamily::kV4}, .add = {gateway("10.1.1.254"), gateway("fd00::1")}})));
  EXPECT_EQ(routes(), R"([{"dst":"10.0.0.0/8"},{"dst":"0.0.0.0/0","gw":"10.1.1.254"},)"
                      R"({"dst":"::/0","gw":"fd00::1"}])");
}

// 02, 12: row 99, and a result that is not there.
TEST_F(FileRecordsTest, RoutesOfNoResultAreAnError) {
  const model::RouteEdit nothing{.remove = {AddressFamily::kV4}, .add = {}};
  cni::CacheEntry made = entry("c1", "n", "eth0");
  made.result = json::Value(json::Object{{"cniVersion", "0.9.0"}});
  ASSERT_TRUE(run(records_.write_result(dir_.path(), made, Durability::kInPlace)));

  EXPECT_EQ(run(records_.edit_routes(dir_.path(), {"n", "c1", "eth0"}, nothing)).error().text(),
            "not supported version: 0.9.0");
  EXPECT_FALSE(run(records_.edit_routes(dir_.path(), {"n", "c2", "eth0"}, nothing)));
}

}  // namespace
}  // namespace mnet::adapters
