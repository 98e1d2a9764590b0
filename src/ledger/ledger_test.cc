#include "ledger/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "ledger/ledger_file.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::ledger {
namespace {

using testing::HasSubstr;

Ledger example() {
  return {.source = "kube-system/multus-cni",
          .plugins = {"macvlan"},
          .configs = {"05-multus-cni.conf"},
          .manifests = {{.file = "m.yaml",
                         .hash = "sha256:1",
                         .objects = {{.api_version = "v1", .kind = "A", .ns = "", .name = "a"}}}}};
}

TEST(Ledger, HasTheFormOfTheSpecification) {
  EXPECT_EQ(dump_ledger(example()),
            R"({"version":1,"source":"kube-system/multus-cni","plugins":["macvlan"],)"
            R"("configs":["05-multus-cni.conf"],"manifests":[{"file":"m.yaml","hash":"sha256:1",)"
            R"("objects":[{"apiVersion":"v1","kind":"A","namespace":"","name":"a"}]}],)"
            R"("files":[],"last":[]})"
            "\n");
  EXPECT_EQ(parse_ledger(dump_ledger(example())).value(), example());
}

TEST(Ledger, RemembersFilesAndWhatTheyReplaced) {
  const FileVersion version{.sha256 = std::string(64, 'a'), .mode = 0755, .user = 1, .group = 2};
  const OwnedFile file{.path = "/bin/x",
                       .sha256 = std::string(64, 'b'),
                       .earlier = std::string(64, 'c'),
                       .version = "1.2",
                       .kept = version};
  Ledger ledger = example();
  ledger.files = {file, {.path = "/bin/y", .kept = FileVersion{.link = "../z"}}};
  ledger.last = {
      {.path = "/bin/x", .before = version, .after = {}, .owned_before = file, .is_undone = true}};

  EXPECT_EQ(parse_ledger(dump_ledger(ledger)).value(), ledger);
}

TEST(Ledger, OfAnOlderVersionHasNoFiles) {
  const auto old = parse_ledger(R"({"version":1,"plugins":["macvlan"]})").value();

  EXPECT_FALSE(old.has_files);
  EXPECT_FALSE(parse_ledger(dump_ledger(old))->has_files);
}

TEST(Ledger, TakesNothingForAHashThatIsNone) {
  EXPECT_THAT(
      parse_ledger(R"({"version":1,"files":[{"path":"/x","sha256":"../y"}]})").error().text(),
      HasSubstr("not a SHA-256"));
}

TEST(Ledger, NamesNothingOutsideOfItsDirectories) {
  EXPECT_THAT(parse_ledger(R"({"version":1,"plugins":["../../etc/passwd"]})").error().text(),
              HasSubstr("invalid name"));
}

TEST(LedgerFile, OfAnotherVersionIsNotTouched) {
  const sys::TestDir dir;
  const std::string path = dir.write("state.json", R"({"version":2})");

  EXPECT_EQ(LedgerFile::load(path, {}).error().code(), Errc::kProtocol);
  EXPECT_TRUE(sys::read_file(path).has_value());
}

// 04, 4: row 108.
TEST(LedgerFile, ThatIsDamagedIsSetAside) {
  const sys::TestDir dir;
  const std::string path = dir.write("state.json", "{\"version\":1,\"plugins\":7}");
  std::string warned;

  auto file = LedgerFile::load(path, {.warn = [&](const std::string& text) { warned = text; }});

  ASSERT_TRUE(file.has_value());
  EXPECT_EQ((*file)->entries(), Ledger());
  EXPECT_THAT(warned, HasSubstr("warning: damaged"));
  EXPECT_TRUE(sys::read_file(path + ".corrupt").has_value());
  ASSERT_TRUE((*file)->update([](Ledger& ledger) { ledger = example(); }).has_value());
  EXPECT_EQ(LedgerFile::load(path, {}).value()->entries(), example());
}

// An error of reading is not a damaged ledger. Here a directory, which not even root can read.
TEST(LedgerFile, ThatCannotBeReadStaysWhereItIs) {
  const sys::TestDir dir;
  dir.write("state.json/something", "");

  EXPECT_FALSE(LedgerFile::load(dir / "state.json", {}).has_value());
  EXPECT_TRUE(sys::read_file(dir / "state.json/something").has_value());
}

TEST(LedgerFile, SeesInItsTurnWhatOthersWrote) {
  const sys::TestDir dir;
  const auto first = LedgerFile::load(dir / "state.json", {}).value();
  const auto second = LedgerFile::load(dir / "state.json", {}).value();

  ASSERT_TRUE(first->update([](Ledger& ledger) { ledger.plugins = {"a"}; }).has_value());
  ASSERT_TRUE(second->update([](Ledger& ledger) { ledger.configs = {"b"}; }).has_value());

  const auto both = LedgerFile::load(dir / "state.json", {}).value();
  EXPECT_EQ(both->entries().plugins.size(), 1u);
  EXPECT_EQ(both->entries().configs.size(), 1u);
}

TEST(LedgerFile, GivesUpItsTurnWhenToldToStop) {
  const sys::TestDir dir;
  const auto first = LedgerFile::load(dir / "state.json", {}).value();
  const auto second = LedgerFile::load(dir / "state.json", {.stops = [] { return true; }}).value();
  const auto turn = first->begin().value();

  EXPECT_EQ(second->begin().error().code(), Errc::kCancelled);
}

}  // namespace
}  // namespace mnet::ledger
