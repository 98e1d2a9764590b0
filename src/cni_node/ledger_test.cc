#include "cni_node/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "nodetools/output.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::cni_node {
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
            R"("objects":[{"apiVersion":"v1","kind":"A","namespace":"","name":"a"}]}]})"
            "\n");
  EXPECT_EQ(parse_ledger(dump_ledger(example())).value(), example());
}

TEST(Ledger, NamesNothingOutsideOfItsDirectories) {
  EXPECT_THAT(parse_ledger(R"({"version":1,"plugins":["../../etc/passwd"]})").error().text(),
              HasSubstr("invalid name"));
}

TEST(Ledger, OfAnotherVersionIsNotTouched) {
  const sys::TestDir dir;
  const std::string path = dir.write("state.json", R"({"version":2})");
  nodetools::RecordedOutput output;

  EXPECT_EQ(LedgerFile::load(path, output).error().code(), Errc::kProtocol);
  EXPECT_TRUE(sys::read_file(path).has_value());
}

// 04, 4: row 108.
TEST(Ledger, ThatIsDamagedIsSetAside) {
  const sys::TestDir dir;
  const std::string path = dir.write("state.json", "{\"version\":1,\"plugins\":7}");
  nodetools::RecordedOutput output;

  auto file = LedgerFile::load(path, output);

  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->entries(), Ledger());
  EXPECT_THAT(output.complaints, HasSubstr("warning: damaged"));
  EXPECT_TRUE(sys::read_file(path + ".corrupt").has_value());
  file->entries() = example();
  ASSERT_TRUE(file->save().has_value());
  EXPECT_EQ(LedgerFile::load(path, output)->entries(), example());
}

// Here a directory, which not even root can read as a file.
TEST(Ledger, ThatCannotBeReadIsSetAside) {
  const sys::TestDir dir;
  dir.write("state.json/something", "");
  nodetools::RecordedOutput output;

  const auto file = LedgerFile::load(dir / "state.json", output);

  ASSERT_TRUE(file.has_value());
  EXPECT_THAT(output.complaints, HasSubstr("warning: damaged"));
  EXPECT_TRUE(sys::read_file(dir / "state.json.corrupt/something").has_value());
}

}  // namespace
}  // namespace mnet::cni_node
