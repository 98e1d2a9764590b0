#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/durability.h"
#include "base/error.h"
#include "base/reading.h"
#include "base/result.h"
#include "base/text.h"
#include "cni/cache.h"
#include "json/json.h"
#include "store/store.h"
#include "sys/file.h"
#include "sys/test_dir.h"
#include "sys/test_limits.h"

namespace mnet::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

mode_t mode_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

cni::CacheEntry entry(std::string network, std::string container_id, std::string ifname) {
  return {.container_id = std::move(container_id),
          .network = std::move(network),
          .ifname = std::move(ifname),
          .netns = "/ns",
          .config = "{ \"name\": \"n\" }\n",
          .cni_args = {{"K", "V"}},
          .capability_args = {},
          .result = json::Object{{"cniVersion", "1.0.0"}}};
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  for (const sys::Entry& file : sys::list_directory(directory).value()) names.push_back(file.name);
  return names;
}

class ResultCacheTest : public testing::Test {
 protected:
  // A file in results/ with any contents.
  void place(const std::string& name, const std::string& contents) {
    ASSERT_TRUE(sys::make_directories(dir_ / "cni/results", 0700).has_value());
    dir_.write("cni/results/" + name, contents);
  }
  std::vector<std::string> listed(const std::string& container_id = {}) {
    std::vector<std::string> out;
    for (const cni::CacheEntry& each : cache_.list(container_id).value().entries) {
      out.push_back(each.network + " " + each.container_id + " " + each.ifname);
    }
    return out;
  }

  sys::TestDir dir_;
  ResultCache cache_{dir_ / "cni"};
};

// C1.
TEST_F(ResultCacheTest, WritesPrivateFilesWithTheExactConfiguration) {
  ASSERT_TRUE(cache_.write(entry("net", "c1", "eth0"), Durability::kDurable).has_value());

  EXPECT_THAT(names_in(dir_ / "cni/results"), ElementsAre("net-c1-eth0"));
  EXPECT_EQ(mode_of(dir_ / "cni/results/net-c1-eth0"), 0600u);
  EXPECT_EQ(mode_of(dir_ / "cni/results"), 0700u);
  EXPECT_EQ(mode_of(dir_ / "cni"), 0700u);
  const auto found = cache_.find({"net", "c1", "eth0"}).value();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->config, "{ \"name\": \"n\" }\n");
  EXPECT_EQ(found->netns, "/ns");
}

TEST_F(ResultCacheTest, ReplacesAnEntryAndMakesUpForSyncing) {
  auto changed = entry("net", "c1", "eth0");
  changed.netns = "/other";

  ASSERT_TRUE(cache_.write(entry("net", "c1", "eth0"), Durability::kInPlace).has_value());
  ASSERT_TRUE(cache_.write(changed, Durability::kInPlace).has_value());

  EXPECT_TRUE(cache_.sync({"net", "c1", "eth0"}).has_value());
  EXPECT_EQ(cache_.find({"net", "c1", "eth0"}).value()->netns, "/other");
}

// X9.
TEST_F(ResultCacheTest, FailsToWriteWhereTheDirectoryIsAFile) {
  ASSERT_TRUE(sys::make_directories(dir_ / "cni", 0700).has_value());
  dir_.write("cni/results", "");

  EXPECT_FALSE(cache_.write(entry("net", "c1", "eth0"), Durability::kDurable).has_value());
}

// C11.
TEST_F(ResultCacheTest, KeepsInterfacesOfOneContainerApart) {
  ASSERT_TRUE(cache_.write(entry("net", "c1", "eth0"), Durability::kInPlace).has_value());
  ASSERT_TRUE(cache_.write(entry("net", "c1", "net1"), Durability::kInPlace).has_value());

  EXPECT_THAT(names_in(dir_ / "cni/results"), ElementsAre("net-c1-eth0", "net-c1-net1"));
}

TEST_F(ResultCacheTest, FindsNothingWhereThereIsNoEntry) {
  EXPECT_EQ(cache_.find_result({"net", "c1", "eth0"}).value().has_value(), false);
  EXPECT_FALSE(cache_.find({"net", "c1", "eth0"}).value().has_value());
  EXPECT_TRUE(cache_.remove({"net", "c1", "eth0"}).has_value());
  EXPECT_TRUE(cache_.sync({"net", "c1", "eth0"}).has_value());
}

// 01, 6.4.
TEST_F(ResultCacheTest, FindsNothingInADirectoryOfThatName) {
  std::filesystem::create_directories(dir_ / "cni/results/net-c1-eth0");

  EXPECT_EQ(cache_.find_result({"net", "c1", "eth0"}).value().has_value(), false);
  EXPECT_FALSE(cache_.find({"net", "c1", "eth0"}).value().has_value());
}

TEST_F(ResultCacheTest, RemembersHowFarADelCame) {
  const cni::CacheKey key{"net", "c1", "eth0"};
  EXPECT_TRUE(cache_.note_deleted(key, 1).has_value()) << "no such entry is fine";
  ASSERT_TRUE(cache_.write(entry("net", "c1", "eth0"), Durability::kInPlace).has_value());
  EXPECT_EQ(cache_.find_result(key).value()->deleted_from, std::nullopt);

  ASSERT_TRUE(cache_.note_deleted(key, 2).has_value());
  EXPECT_EQ(cache_.find_result(key).value()->deleted_from, 2u);
  EXPECT_TRUE(cache_.find(key).value().has_value());

  ASSERT_TRUE(cache_.write(entry("net", "c1", "eth0"), Durability::kInPlace).has_value());
  EXPECT_EQ(cache_.find_result(key).value()->deleted_from, std::nullopt);
}

TEST_F(ResultCacheTest, TakesNoNonsenseForHowFarADelCame) {
  for (const char* text : {"-1", "1.5", "\"1\"", "null", "99999999999999999999"}) {
    place("net-c1-eth0", cat(R"({"kind":"cniCacheV1","containerId":"c1","ifName":"eth0",)",
                             R"("networkName":"net","result":{},"deletedFrom":)", text, "}"));
    const auto found = cache_.find_result({"net", "c1", "eth0"}).value();
    ASSERT_TRUE(found.has_value()) << text;
    EXPECT_EQ(found->deleted_from, std::nullopt) << text;
  }
}

// C4.
TEST_F(ResultCacheTest, TakesALegacyFileForAResultButForNoConfiguration) {
  place("net-c1-eth0", R"({"cniVersion":"0.2.0","ip4":{"ip":"1.2.3.4/24"}})");
  place("net-c2-eth0", R"({"kind":"other"})");
  place("net-c3-eth0", "garbage");

  EXPECT_EQ(json::dump(cache_.find_result({"net", "c1", "eth0"}).value()->result),
            R"({"cniVersion":"0.2.0","ip4":{"ip":"1.2.3.4/24"}})");
  EXPECT_EQ(cache_.find({"net", "c1", "eth0"}).error().text(),
            "read cached network \"net\" config has wrong kind: ");
  EXPECT_EQ(cache_.find({"net", "c2", "eth0"}).error().text(),
            "read cached network \"net\" config has wrong kind: other");
  EXPECT_THAT(cache_.find({"net", "c3", "eth0"}).error().text(),
              testing::StartsWith("failed to unmarshal cached network \"net\" config: "));
  EXPECT_FALSE(cache_.find_result({"net", "c3", "eth0"}).has_value());
}

// C7.
TEST_F(ResultCacheTest, WantsAllThreeNames) {
  const std::string text =
      "cache file path requires network name (\"\"), container ID (\"c\"), and interface name "
      "(\"eth0\")";

  EXPECT_EQ(cache_.write(entry("", "c", "eth0"), Durability::kDurable).error().text(), text);
  EXPECT_EQ(cache_.find_result({"", "c", "eth0"}).error().text(), text);
  EXPECT_EQ(cache_.find({"", "c", "eth0"}).error().text(), text);
  EXPECT_EQ(cache_.remove({"", "c", "eth0"}).error().text(), text);
  EXPECT_FALSE(cache_.find({"n", "", "eth0"}).has_value());
  EXPECT_FALSE(cache_.find({"n", "c", ""}).has_value());
}

// C8: what the entry lacks is empty, for the caller to replace or to keep his own.
TEST_F(ResultCacheTest, FindsEmptyParametersWhereTheEntryHasNone) {
  place("net-c1-eth0", R"({"kind":"cniCacheV1","containerId":"c1","config":"e30="})");

  const auto found = cache_.find({"net", "c1", "eth0"}).value();

  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->capability_args.empty());
  EXPECT_THAT(found->cni_args, IsEmpty());
  EXPECT_EQ(found->config, "{}");
  EXPECT_FALSE(found->result.has_value());
}

// X21: names that lead elsewhere.
TEST_F(ResultCacheTest, NeverLeavesItsDirectory) {
  const std::string outside = dir_.write("x-eth0", "{}");
  ASSERT_TRUE(sys::make_directories(dir_ / "cni/results/n-..", 0700).has_value());
  const std::vector<std::string> bad = {"..", "../../x", "a/b", "%%", "-a", std::string("a\0b", 3)};

  for (const std::string& id : bad) {
    EXPECT_EQ(cache_.find_result({"n", id, "eth0"}).value().has_value(), false) << id;
    EXPECT_FALSE(cache_.find({"n", id, "eth0"}).value().has_value()) << id;
    EXPECT_TRUE(cache_.remove({"n", id, "eth0"}).has_value()) << id;
    EXPECT_FALSE(cache_.write(entry("n", id, "eth0"), Durability::kDurable).has_value()) << id;
    EXPECT_TRUE(cache_.remove({id, "c", "eth0"}).has_value()) << id;
    EXPECT_FALSE(cache_.write(entry(id, "c", "eth0"), Durability::kDurable).has_value()) << id;
  }
  EXPECT_TRUE(cache_.remove({"n", "c", "../../../x-eth0"}).has_value());
  EXPECT_TRUE(cache_.remove({"n", "..", "/../../x-eth0"}).has_value());
  EXPECT_TRUE(std::filesystem::exists(outside));
  EXPECT_THAT(names_in(dir_ / "cni/results"), ElementsAre("n-.."));
}

TEST_F(ResultCacheTest, RemovesAnEntry) {
  ASSERT_TRUE(cache_.write(entry("net", "c1", "eth0"), Durability::kInPlace).has_value());

  EXPECT_TRUE(cache_.remove({"net", "c1", "eth0"}).has_value());

  EXPECT_THAT(names_in(dir_ / "cni/results"), IsEmpty());
}

// C9.
TEST_F(ResultCacheTest, ListsOneContainersEntriesByNameAndContents) {
  const auto text = [](std::string network, std::string id, std::string ifname) {
    return R"({"kind":"cniCacheV1","containerId":")" + id + R"(","ifName":")" + ifname +
           R"(","networkName":")" + network + "\"}";
  };
  place("a-c1-eth0", text("a", "c1", "eth0"));
  place("-c1-eth0", text("x", "c1", "eth0"));
  place("b-c1-", text("b", "c1", "eth0"));
  place("l-c1-e", R"({"cniVersion":"1.0.0"})");
  place("y-c1-eth0", text("y", "c2", "eth0"));
  place("z-c1-eth0", text("", "c1", "eth0"));
  place("z-c1-eth1", text("z", "c1", ""));
  place("b-c2-eth0", text("b", "c2", "eth0"));

  EXPECT_THAT(listed("c1"), ElementsAre("a c1 eth0"));
}

// C10.
TEST_F(ResultCacheTest, ListsAllInByteOrderAndSkipsWhatIsNoEntry) {
  EXPECT_THAT(listed(), IsEmpty());
  ASSERT_TRUE(cache_.write(entry("b", "c1", "eth0"), Durability::kInPlace).has_value());
  ASSERT_TRUE(cache_.write(entry("B", "c2", "eth0"), Durability::kInPlace).has_value());
  place("garbage", "{");
  place("empty", "");
  place("legacy", "{}");
  place(".multus-tmp-1",
        R"({"kind":"cniCacheV1","containerId":"c","ifName":"i","networkName":"n"})");
  std::filesystem::create_directories(dir_ / "cni/results/sub");

  EXPECT_THAT(listed(), ElementsAre("B c2 eth0", "b c1 eth0"));
}

TEST_F(ResultCacheTest, ListsAllByContainer) {
  ASSERT_TRUE(cache_.write(entry("a", "c1", "eth0"), Durability::kInPlace).has_value());
  ASSERT_TRUE(cache_.write(entry("a", "c2", "eth0"), Durability::kInPlace).has_value());
  ASSERT_TRUE(cache_.write(entry("b", "c1", "net1"), Durability::kInPlace).has_value());

  const auto all = cache_.list_all().value();

  ASSERT_EQ(all.containers.size(), 2u);
  const cni::CachedContainer& first = all.containers.front();
  EXPECT_EQ(first.container_id, "c1");
  EXPECT_EQ(first.netns, entry("a", "c1", "eth0").netns);
  EXPECT_EQ(first.cni_args, entry("a", "c1", "eth0").cni_args);
  using Attachment = cni::CachedContainer::Attachment;
  EXPECT_THAT(first.attachments, ElementsAre(Attachment{"a", "eth0"}, Attachment{"b", "net1"}));
}

TEST_F(ResultCacheTest, FailsToListWhatIsNoDirectory) {
  ASSERT_TRUE(sys::make_directories(dir_ / "cni", 0700).has_value());
  dir_.write("cni/results", "");

  EXPECT_FALSE(cache_.list_all().has_value());
}

// 01, 6.4 and 6.5.
TEST_F(ResultCacheTest, NeverTakesAFileThatCannotBeReadForOneThatIsNotThere) {
  ASSERT_TRUE(cache_.write(entry("a", "c1", "eth0"), Durability::kInPlace).has_value());
  std::filesystem::create_symlink(sys::kFileThatFailsToRead, dir_ / "cni/results/b-c1-net1");

  EXPECT_EQ(cache_.find_result({"b", "c1", "net1"}).error().os_errno(), EIO);
  EXPECT_EQ(cache_.find({"b", "c1", "net1"}).error().os_errno(), EIO);
  const auto listing = cache_.list("c1").value();
  EXPECT_EQ(listing.entries.size(), 1u);
  ASSERT_EQ(listing.unreadable.size(), 1u);
  EXPECT_THAT(listing.unreadable.errors().front().text(), testing::HasSubstr("b-c1-net1"));
  EXPECT_TRUE(cache_.list("c2").value().unreadable.empty());
}

TEST_F(ResultCacheTest, CannotBeListedWithoutDescriptors) {
  ASSERT_TRUE(cache_.write(entry("a", "c1", "eth0"), Durability::kInPlace).has_value());
  const sys::DescriptorLimit none(0);

  const auto listing = cache_.list("c1");

  ASSERT_FALSE(listing.has_value());
  EXPECT_TRUE(is_shortage(listing.error())) << listing.error().text();
}

TEST_F(ResultCacheTest, EditsAnEntryWithoutLosingUnknownMembers) {
  place(
      "net-c1-eth0",
      R"({"kind":"cniCacheV1","extra":12345678901234567890,"result":{"cniVersion":"1.0.0","routes":[{"dst":"::/0"}]}})");

  const auto edited = cache_.edit(
      {"net", "c1", "eth0"},
      [](json::Object& file) { return delete_default_routes(file, {.v4 = true, .v6 = true}); },
      Durability::kDurable);

  ASSERT_TRUE(edited.has_value()) << edited.error().text();
  EXPECT_EQ(
      sys::read_file(dir_ / "cni/results/net-c1-eth0").value(),
      R"({"kind":"cniCacheV1","extra":12345678901234567890,"result":{"cniVersion":"1.0.0"}})");
  EXPECT_EQ(mode_of(dir_ / "cni/results/net-c1-eth0"), 0600u);
}

TEST_F(ResultCacheTest, FailsToEditWhatIsMissingOrRefused) {
  const auto keep = [](json::Object&) { return Result<void>(); };
  const auto refuse = [](json::Object&) { return Result<void>(Error(Errc::kProtocol, "no")); };
  place("net-c1-eth0", R"({ "kind":"cniCacheV1" })");
  place("net-c2-eth0", "[]");

  EXPECT_FALSE(cache_.edit({"net", "none", "eth0"}, keep, Durability::kDurable).has_value());
  EXPECT_FALSE(cache_.edit({"net", "..", "eth0"}, keep, Durability::kDurable).has_value());
  EXPECT_FALSE(cache_.edit({"net", "c2", "eth0"}, keep, Durability::kDurable).has_value());
  EXPECT_EQ(cache_.edit({"net", "c1", "eth0"}, refuse, Durability::kDurable).error().text(), "no");
  EXPECT_EQ(sys::read_file(dir_ / "cni/results/net-c1-eth0").value(), R"({ "kind":"cniCacheV1" })");
}

}  // namespace
}  // namespace mnet::store
