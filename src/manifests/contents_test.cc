#include "manifests/contents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "manifests/snapshot.h"
#include "sys/test_dir.h"

namespace mnet::manifests {
namespace {

using sys::TestDir;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const Touched kEverything{.written = {}, .created = {}, .everything = true};

Touched written(const std::string& name) {
  return {.written = {name}, .created = {}, .everything = false};
}
Touched created(const std::string& name) {
  return {.written = {}, .created = {name}, .everything = false};
}

std::string pod(const std::string& name, const std::string& note = "") {
  return cat("{apiVersion: v1, kind: Pod, metadata: {name: ", name, ", annotations: {note: '", note,
             "'}}}\n");
}

std::vector<std::string> pods(const std::shared_ptr<const Snapshot>& snapshot) {
  std::vector<std::string> out;
  for (const auto& [key, found] : snapshot->pods()) {
    out.push_back(cat(found->name, ":", found->annotations.at("note")));
  }
  return out;
}

TEST(ManifestName, IsVisibleAndHasOneOfThreeEndings) {
  for (const char* name : {"a.yaml", "a.yml", "a.json", "a.b.yaml"}) {
    EXPECT_TRUE(is_manifest_name(name)) << name;
  }
  for (const char* name : {".a.yaml", ".yaml", "a", "a.txt", "a.yaml~", "a.YAML", "a.yaml.swp",
                           "events.jsonl", "events.jsonl.1", "status", ""}) {
    EXPECT_FALSE(is_manifest_name(name)) << name;
  }
}

class ContentsTest : public testing::Test {
 protected:
  const TestDir dir;
  Contents contents{dir.path()};
};

TEST_F(ContentsTest, ReadsTheFilesOfTheFolderItself) {
  dir.write("a.yaml", pod("a"));
  dir.write("b.yml", pod("b"));
  dir.write(
      "c.json",
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"c","annotations":{"note":""}}})");
  dir.write("d.txt", pod("d"));
  dir.write(".e.yaml", pod("e"));
  dir.write("sub/f.yaml", pod("f"));
  dir.write("sub.yaml/g.yaml", pod("g"));

  const Update update = contents.load(kEverything);

  EXPECT_THAT(pods(update.snapshot), ElementsAre("a:", "b:", "c:"));
  EXPECT_THAT(update.errors, IsEmpty());
}

TEST_F(ContentsTest, ReadsOnlyWhatWasTouched) {
  dir.write("a.yaml", pod("a", "1"));
  dir.write("b.yaml", pod("b", "1"));
  contents.load(kEverything);

  dir.write("a.yaml", pod("a", "2"));
  dir.write("b.yaml", pod("b", "2"));
  const Update update = contents.load(written("b.yaml"));

  EXPECT_THAT(pods(update.snapshot), ElementsAre("a:1", "b:2"));
}

TEST_F(ContentsTest, LeavesTheSnapshotAloneWhenNothingIsNew) {
  dir.write("a.yaml", pod("a"));
  const Update first = contents.load(kEverything);

  EXPECT_EQ(contents.load(kEverything).snapshot, nullptr);
  EXPECT_EQ(contents.load(written("a.yaml")).snapshot, nullptr);
  EXPECT_EQ(contents.load(written("other.txt")).snapshot, nullptr);
  EXPECT_THAT(pods(first.snapshot), ElementsAre("a:"));
}

TEST_F(ContentsTest, PublishesAnEmptyFolderOnce) {
  EXPECT_NE(contents.load(kEverything).snapshot, nullptr);
  EXPECT_EQ(contents.load(kEverything).snapshot, nullptr);
}

TEST_F(ContentsTest, KeepsTheLastGoodObjectsOfABrokenFileAndSaysSoOnce) {
  dir.write("a.yaml", pod("a") + "---\n" + pod("a2"));
  dir.write("b.yaml", pod("b"));
  contents.load(kEverything);

  dir.write("a.yaml", pod("a") + "---\n{apiVersion: v1, kind: Pod}\n");
  const Update broken = contents.load(written("a.yaml"));
  const Update again = contents.load(kEverything);
  dir.write("b.yaml", pod("b", "2"));
  const Update other = contents.load(written("b.yaml"));

  EXPECT_EQ(broken.snapshot, nullptr);
  EXPECT_THAT(broken.errors, ElementsAre((dir / "a.yaml") + ": line 3: metadata: missing"));
  EXPECT_THAT(again.errors, IsEmpty());
  EXPECT_THAT(pods(other.snapshot), ElementsAre("a:", "a2:", "b:2"));
}

TEST_F(ContentsTest, ReportsEveryOtherWayAFileIsBroken) {
  dir.write("a.yaml", "a: [");
  const Update first = contents.load(kEverything);
  dir.write("a.yaml", "b: ]");
  const Update second = contents.load(written("a.yaml"));

  EXPECT_THAT(first.errors, ElementsAre(StartsWith((dir / "a.yaml") + ": line ")));
  EXPECT_THAT(second.errors, ElementsAre(StartsWith((dir / "a.yaml") + ": line 1, column ")));
}

TEST_F(ContentsTest, TakesARepairedFile) {
  dir.write("a.yaml", pod("a", "1"));
  contents.load(kEverything);
  dir.write("a.yaml", "a: [");
  contents.load(written("a.yaml"));

  dir.write("a.yaml", pod("a", "1"));
  const Update update = contents.load(written("a.yaml"));

  EXPECT_THAT(pods(update.snapshot), ElementsAre("a:1"));
  EXPECT_THAT(update.errors, IsEmpty());
}

TEST_F(ContentsTest, KeepsTheLastGoodObjectsOfAFileThatCannotBeRead) {
  dir.write("a.yaml", pod("a"));
  contents.load(kEverything);

  std::filesystem::remove(dir / "a.yaml");
  std::filesystem::create_symlink("a.yaml", dir / "a.yaml");  // a link to itself
  const Update update = contents.load(written("a.yaml"));
  dir.write("b.yaml", pod("b"));

  EXPECT_THAT(update.errors, ElementsAre(HasSubstr("too many levels of symbolic links")));
  EXPECT_THAT(contents.load(written("a.yaml")).errors, IsEmpty());
  EXPECT_THAT(pods(contents.load(written("b.yaml")).snapshot), ElementsAre("a:", "b:"));
}

TEST_F(ContentsTest, DropsTheObjectsOfARemovedFile) {
  dir.write("a.yaml", pod("a"));
  dir.write("b.yaml", pod("b"));
  dir.write("c.yaml", "a: [");
  contents.load(kEverything);

  std::filesystem::remove(dir / "a.yaml");
  EXPECT_THAT(pods(contents.load(written("a.yaml")).snapshot), ElementsAre("b:"));
  std::filesystem::remove(dir / "b.yaml");
  std::filesystem::remove(dir / "c.yaml");
  EXPECT_THAT(pods(contents.load(kEverything).snapshot), IsEmpty());
}

TEST_F(ContentsTest, TheLaterFileNameInByteOrderWinsWithOneWarning) {
  dir.write("B.yaml", pod("a", "B"));
  dir.write("a.yaml", pod("a", "a"));
  dir.write("a-.yaml", pod("a", "a-"));

  const Update update = contents.load(kEverything);

  EXPECT_THAT(pods(update.snapshot), ElementsAre("a:a"));
  EXPECT_THAT(update.warnings,
              ElementsAre("Pod default/a is in B.yaml and in a-.yaml; the one in a-.yaml counts",
                          "Pod default/a is in a-.yaml and in a.yaml; the one in a.yaml counts"));
  dir.write("c.yaml", pod("c"));
  EXPECT_THAT(contents.load(written("c.yaml")).warnings, IsEmpty());
}

TEST_F(ContentsTest, TheLaterOfTwoInOneFileWins) {
  dir.write("a.yaml", pod("a", "1") + "---\n" + pod("a", "2"));

  const Update update = contents.load(kEverything);

  EXPECT_THAT(pods(update.snapshot), ElementsAre("a:2"));
  EXPECT_THAT(update.warnings,
              ElementsAre("Pod default/a is in a.yaml twice; the later one counts"));
}

TEST_F(ContentsTest, ShowsTheEarlierFileAgainWhenTheLaterIsGone) {
  dir.write("a.yaml", pod("a", "1"));
  dir.write("b.yaml", pod("a", "2"));
  contents.load(kEverything);

  std::filesystem::remove(dir / "b.yaml");

  EXPECT_THAT(pods(contents.load(written("b.yaml")).snapshot), ElementsAre("a:1"));
}

TEST_F(ContentsTest, WaitsForTheWriterOfANewFileButNotForALink) {
  contents.load(kEverything);
  dir.write("new.yaml", pod("new"));
  EXPECT_EQ(contents.load(created("new.yaml")).snapshot, nullptr);

  std::filesystem::create_hard_link(dir / "new.yaml", dir / "hard.yaml");
  EXPECT_THAT(pods(contents.load(created("hard.yaml")).snapshot), ElementsAre("new:"));
  std::filesystem::remove(dir / "hard.yaml");
  EXPECT_THAT(pods(contents.load(written("hard.yaml")).snapshot), IsEmpty());
  std::filesystem::create_symlink("new.yaml", dir / "soft.yaml");
  EXPECT_THAT(pods(contents.load(created("soft.yaml")).snapshot), ElementsAre("new:"));
}

TEST_F(ContentsTest, AFolderThatIsNotThereHasNoObjectsAndIsReportedOnce) {
  Contents objects(dir / "objects");

  const Update missing = objects.load(kEverything);
  const Update again = objects.load(kEverything);

  EXPECT_THAT(pods(missing.snapshot), IsEmpty());
  EXPECT_THAT(missing.errors,
              ElementsAre("open " + (dir / "objects") + ": no such file or directory"));
  EXPECT_THAT(again.errors, IsEmpty());
}

// pain 30
TEST_F(ContentsTest, AFolderThatIsGoneLeavesItsObjectsInForceAndIsReportedEachTime) {
  dir.write("objects/a.yaml", pod("a"));
  Contents objects(dir / "objects");
  objects.load(kEverything);

  std::filesystem::remove_all(dir / "objects");
  const Update gone = objects.load(kEverything);
  const Update again = objects.load(kEverything);
  dir.write("objects/b.yaml", pod("b"));
  const Update back = objects.load(kEverything);
  std::filesystem::remove_all(dir / "objects");
  const Update gone_again = objects.load(kEverything);

  EXPECT_EQ(gone.snapshot, nullptr);
  EXPECT_THAT(gone.errors,
              ElementsAre("open " + (dir / "objects") +
                          ": no such file or directory; its last objects stay in use"));
  EXPECT_THAT(again.errors, IsEmpty());
  EXPECT_THAT(pods(back.snapshot), ElementsAre("b:"));
  EXPECT_EQ(gone_again.errors.size(), 1u);
}

TEST_F(ContentsTest, SnapshotsDoNotChangeUnderTheirReaders) {
  dir.write("a.yaml", pod("a", "1"));
  const Update first = contents.load(kEverything);
  const auto held = first.snapshot->find_pod("default", "a");

  dir.write("a.yaml", pod("a", "2"));
  const Update second = contents.load(written("a.yaml"));

  EXPECT_EQ(held->annotations.at("note"), "1");
  EXPECT_THAT(pods(first.snapshot), ElementsAre("a:1"));
  EXPECT_THAT(pods(second.snapshot), ElementsAre("a:2"));
  EXPECT_EQ(second.snapshot->find_pod("default", "b"), nullptr);
  EXPECT_EQ(second.snapshot->find_network("default", "a"), nullptr);
}

}  // namespace
}  // namespace mnet::manifests
