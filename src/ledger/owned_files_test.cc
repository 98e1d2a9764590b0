#include "ledger/owned_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ledger/ledger.h"
#include "ledger/ledger_file.h"
#include "sys/copy_file.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::ledger {
namespace {

namespace fs = std::filesystem;
using Removal = OwnedFiles::Removal;
using Undoing = OwnedFiles::Undoing;

class OnNode : public testing::Test {
 protected:
  bool put(const std::string& name, std::string_view text) {
    auto content = sys::Blocks::of(text);
    return owned.put(owned.make(bin).value(), name, content, {.mode = 0755}).value();
  }
  Removal remove(const std::string& name) {
    return owned.remove(owned.enter(bin).value(), name).value();
  }
  // Nothing if there is no such file.
  std::string text(const std::string& name) const {
    return sys::find_file(bin + "/" + name)->value_or("");
  }
  std::vector<std::string> kept() const {
    std::vector<std::string> out;
    const auto entries = sys::list_directory(dir / "state.json.kept");
    if (!entries) return out;
    for (const auto& entry : *entries) out.push_back(entry.name);
    return out;
  }

  sys::TestDir dir;
  const std::string bin = dir / "bin";
  std::unique_ptr<LedgerFile> ledger = LedgerFile::load(dir / "state.json", {}).value();
  OwnedFiles owned{ledger.get(), {}};
};

TEST_F(OnNode, TakesAwayWhatItPutAndNothingElse) {
  dir.write("bin/theirs", "theirs", 0755);
  EXPECT_TRUE(put("ours", "ours"));
  EXPECT_FALSE(put("theirs", "theirs"));  // as it should be, but not by us

  EXPECT_EQ(remove("ours"), Removal::kRemoved);
  EXPECT_EQ(remove("theirs"), Removal::kForeign);
  EXPECT_EQ(remove("nothing"), Removal::kAbsent);

  EXPECT_EQ(text("ours"), "");
  EXPECT_EQ(text("theirs"), "theirs");
}

TEST_F(OnNode, PutsBackTheLastVersionOfAnotherThatItReplaced) {
  dir.write("bin/f", "theirs", 0750);
  EXPECT_TRUE(put("f", "ours 1"));
  EXPECT_TRUE(put("f", "ours 2"));
  dir.write("bin/f", "theirs, upgraded", 0700);
  EXPECT_TRUE(put("f", "ours 2"));
  fs::remove(bin + "/f");
  EXPECT_TRUE(put("f", "ours 3"));

  EXPECT_EQ(remove("f"), Removal::kPutBack);

  EXPECT_EQ(text("f"), "theirs, upgraded");
  EXPECT_EQ(fs::status(bin + "/f").permissions(), fs::perms(0700));
  EXPECT_EQ(remove("f"), Removal::kForeign);
}

TEST_F(OnNode, PutsBackALink) {
  fs::create_directory(bin);
  fs::create_symlink("../elsewhere", bin + "/f");
  EXPECT_TRUE(put("f", "ours"));

  EXPECT_EQ(remove("f"), Removal::kPutBack);

  EXPECT_EQ(fs::read_symlink(bin + "/f"), "../elsewhere");
}

TEST_F(OnNode, LeavesWhatAnotherChangedSince) {
  dir.write("bin/f", "theirs", 0755);
  EXPECT_TRUE(put("f", "ours"));
  dir.write("bin/f", "theirs again");

  EXPECT_EQ(remove("f"), Removal::kChanged);

  EXPECT_EQ(text("f"), "theirs again");
  EXPECT_TRUE(ledger->entries().files.empty());
}

TEST_F(OnNode, KnowsItsFileWhereItWasKilledBeforeOrAfterWriting) {
  EXPECT_TRUE(put("f", "old"));
  const Ledger before = ledger->entries();
  EXPECT_TRUE(put("f", "new"));
  // The ledger as it was between the two: what is about to be written is in it already.
  OwnedFile entry = ledger->entries().files.front();
  entry.earlier = before.files.front().sha256;
  ASSERT_TRUE(ledger->update([&](Ledger& now) { now.files = {entry}; }).has_value());

  dir.write("bin/f", "old", 0755);
  EXPECT_EQ(remove("f"), Removal::kRemoved);
  ASSERT_TRUE(ledger->update([&](Ledger& now) { now.files = {entry}; }).has_value());
  dir.write("bin/f", "new", 0755);
  EXPECT_EQ(remove("f"), Removal::kRemoved);
}

TEST_F(OnNode, ChangesNothingWhenItCannotWriteItDown) {
  dir.write("bin/f", "theirs", 0755);
  dir.write("state.json.kept", "a file where a folder should be");
  auto content = sys::Blocks::of("ours");

  EXPECT_FALSE(owned.put(owned.make(bin).value(), "f", content, {.mode = 0755}).has_value());

  EXPECT_EQ(text("f"), "theirs");
  EXPECT_TRUE(LedgerFile::load(dir / "state.json", {}).value()->entries().files.empty());
}

TEST_F(OnNode, KeepsNoBytesThatNobodyNeeds) {
  dir.write("bin/f", "theirs", 0755);
  EXPECT_TRUE(put("f", "ours"));
  EXPECT_EQ(kept().size(), 1u);
  EXPECT_EQ(remove("f"), Removal::kPutBack);
  owned.begin_run();
  EXPECT_TRUE(put("g", "other"));

  EXPECT_TRUE(kept().empty());
}

TEST_F(OnNode, RollsBackTheLastRunAndThatAgain) {
  dir.write("bin/theirs", "theirs", 0755);
  EXPECT_TRUE(put("f", "1"));
  EXPECT_TRUE(put("gone", "1"));
  owned.begin_run();
  EXPECT_TRUE(put("f", "2"));
  EXPECT_TRUE(put("theirs", "2"));
  EXPECT_TRUE(put("new", "2"));
  EXPECT_EQ(remove("gone"), Removal::kRemoved);

  ASSERT_TRUE(owned.rollback({bin}).has_value());
  EXPECT_EQ(text("f") + text("theirs") + text("new") + text("gone"), "1theirs1");
  EXPECT_EQ(remove("theirs"), Removal::kForeign);

  ASSERT_TRUE(owned.rollback({bin}).has_value());
  EXPECT_EQ(text("f") + text("theirs") + text("new") + text("gone"), "222");
  EXPECT_EQ(remove("theirs"), Removal::kPutBack);
  EXPECT_EQ(remove("new"), Removal::kRemoved);
}

TEST_F(OnNode, KnowsItsFileWhereARollbackWasKilledBeforeOrAfterWriting) {
  EXPECT_TRUE(put("f", "1"));
  owned.begin_run();
  EXPECT_TRUE(put("f", "2"));
  fs::remove_all(dir / "state.json.kept");  // it comes as far as the file and no further

  EXPECT_FALSE(owned.rollback({bin}).has_value());

  const Ledger half = ledger->entries();
  EXPECT_EQ(text("f"), "2");
  EXPECT_EQ(remove("f"), Removal::kRemoved);
  ASSERT_TRUE(ledger->update([&](Ledger& now) { now = half; }).has_value());
  dir.write("bin/f", "1", 0755);
  EXPECT_EQ(remove("f"), Removal::kRemoved);
}

TEST_F(OnNode, RollsBackToTheLastVersionOfAnotherThatItReplaced) {
  dir.write("bin/f", "theirs", 0755);
  EXPECT_TRUE(put("f", "ours"));
  dir.write("bin/f", "theirs, upgraded");
  EXPECT_TRUE(put("f", "ours"));

  ASSERT_TRUE(owned.rollback({bin}).has_value());

  EXPECT_EQ(text("f"), "theirs, upgraded");
}

TEST_F(OnNode, RollsNothingBackThatAnotherChangedSince) {
  EXPECT_TRUE(put("f", "1"));
  dir.write("bin/f", "theirs");

  const auto undone = owned.rollback({bin}).value();

  ASSERT_EQ(undone.size(), 1u);
  EXPECT_EQ(undone[0].how, Undoing::kChanged);
  EXPECT_EQ(text("f"), "theirs");
}

TEST_F(OnNode, WithoutALedgerWhateverHasTheNameIsOurs) {
  dir.write("bin/f", "theirs");
  OwnedFiles any(nullptr, {});

  EXPECT_EQ(any.remove(any.enter(bin).value(), "f").value(), Removal::kRemoved);
  EXPECT_EQ(any.rollback({bin}).error().code(), Errc::kNotFound);
}

TEST_F(OnNode, TakesOverWhatAnOlderVersionListed) {
  dir.write("bin/f", "by an older version", 0755);
  ASSERT_TRUE(ledger->update([](Ledger& now) { now.has_files = false; }).has_value());

  ASSERT_TRUE(owned.adopt({{.directory = bin, .names = {"f", "missing"}}}).has_value());

  EXPECT_EQ(remove("f"), Removal::kRemoved);
}

}  // namespace
}  // namespace mnet::ledger
