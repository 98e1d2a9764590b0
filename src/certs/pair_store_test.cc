#include "certs/pair_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "certs/judge.h"
#include "certs/test_signer.h"
#include "certs/x509.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::certs {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::SizeIs;

const Time kNow = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());

Pair some_pair(const std::string& node = "a") {
  return *parse_pair(pair_text(subject_of_node(node), kNow - 5min, kNow + 10min));
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> out;
  for (const auto& entry : *sys::list_directory(directory)) out.push_back(entry.name);
  return out;
}

TEST(PairStore, IsEmptyWhereThereIsNothing) {
  const sys::TestDir dir;
  const PairStore store(dir / "not-there");

  const auto loaded = store.load();

  EXPECT_TRUE(store.recover().has_value());
  ASSERT_TRUE(loaded.has_value()) << loaded.error().text();
  EXPECT_FALSE(loaded->has_value());
}

TEST(PairStore, GivesBackWhatItWasGiven) {
  const sys::TestDir dir;
  const PairStore store(dir / "certs");
  const Pair pair = some_pair();

  ASSERT_TRUE(store.save(pair, kNow).has_value());

  const auto loaded = store.load();
  ASSERT_TRUE(loaded && *loaded);
  EXPECT_EQ((*loaded)->text(), pair.text());
}

// 03, 12: row 140, the files
TEST(PairStore, HasTheOriginalsNamesAndModesAndAnAbsoluteLink) {
  const sys::TestDir dir;
  const PairStore store(dir / "certs");

  ASSERT_TRUE(store.save(some_pair(), kNow).has_value());

  const std::string target = fs::read_symlink(dir / "certs/multus-client-current.pem").string();
  EXPECT_TRUE(target.starts_with(dir / "certs/multus-client-2")) << target;
  struct stat status{};
  ASSERT_EQ(::lstat(target.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  ASSERT_EQ(::stat((dir / "certs").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0755u);
  EXPECT_THAT(names_in(dir / "certs"), SizeIs(2));
}

TEST(PairStore, KeepsTheTwoNewestFiles) {
  const sys::TestDir dir;
  const PairStore store(dir.path());
  dir.write("multus-client-notes.pem", "mine");

  for (int i = 0; i < 5; ++i) ASSERT_TRUE(store.save(some_pair(), kNow + i * 1min).has_value());

  EXPECT_THAT(names_in(dir.path()), SizeIs(4));  // two, the link, and what is not ours
  EXPECT_TRUE(fs::exists(dir / "multus-client-notes.pem"));
  EXPECT_TRUE(store.load()->has_value());
}

TEST(PairStore, KeepsTheCurrentFileWhenTheClockWasSetBack) {
  const sys::TestDir dir;
  const PairStore store(dir.path());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(store.save(some_pair(), kNow + i * 1min).has_value());
  const Pair last = some_pair("b");

  ASSERT_TRUE(store.save(last, kNow - 24h).has_value());

  const auto loaded = store.load();
  ASSERT_TRUE(loaded && *loaded);
  EXPECT_EQ((*loaded)->subject, last.subject);
}

// 03, 12: row 143
TEST(PairStore, FinishesAReplacementThatWasCutShort) {
  const sys::TestDir dir;
  const PairStore store(dir.path());
  const std::string file = dir.write("multus-client-2026-01-02-03-04-05.pem", some_pair().text());
  fs::create_symlink(file, dir / "multus-client-updated.pem");

  ASSERT_TRUE(store.recover().has_value());

  EXPECT_TRUE(store.load()->has_value());
  EXPECT_TRUE(fs::is_symlink(dir / "multus-client-current.pem"));
  EXPECT_FALSE(fs::is_symlink(dir / "multus-client-updated.pem"));
}

TEST(PairStore, LeavesAnUpdateThatNobodyFinishedToTheNextOne) {
  const sys::TestDir dir;
  const PairStore store(dir.path());
  ASSERT_TRUE(store.save(some_pair("a"), kNow).has_value());
  fs::create_symlink(dir / "nowhere", dir / "multus-client-updated.pem");

  ASSERT_TRUE(store.recover().has_value());
  ASSERT_TRUE(store.save(some_pair("b"), kNow + 1min).has_value());

  EXPECT_EQ((*store.load())->subject, subject_of_node("b"));
}

TEST(PairStore, OverwritesNothingThatIsNoLink) {
  for (const std::string name : {"multus-client-current.pem", "multus-client-updated.pem"}) {
    const sys::TestDir dir;
    const PairStore store(dir.path());
    dir.write(name, "not ours");

    const auto recovered = store.recover();
    const auto saved = store.save(some_pair(), kNow);

    ASSERT_FALSE(recovered.has_value());
    EXPECT_THAT(recovered.error().text(), HasSubstr(name));
    EXPECT_FALSE(saved.has_value());
    EXPECT_EQ(*sys::read_file(dir / name), "not ours");
    EXPECT_THAT(names_in(dir.path()), SizeIs(1));  // nor leaves a file behind, at each try one more
  }
}

// 03, 12: row 144, the other form that the original reads
TEST(PairStore, ReadsCertificateAndKeyInTwoFiles) {
  const sys::TestDir dir;
  const Pair pair = some_pair();
  dir.write("multus-client.crt", pair.certificates);
  const PairStore store(dir.path());
  EXPECT_FALSE(store.load()->has_value());

  dir.write("multus-client.key", pair.key);

  ASSERT_TRUE(store.load()->has_value());
  EXPECT_EQ((*store.load())->text(), pair.text());
}

TEST(PairStore, SaysWhatIsWrongWithAFile) {
  const sys::TestDir dir;
  const PairStore store(dir.path());
  const std::string text = some_pair().text();
  const std::string file = dir.write("multus-client-2026-01-02-03-04-05.pem", "");
  fs::create_symlink(file, dir / "multus-client-current.pem");

  for (const std::string& broken :
       {std::string(), std::string("\0\1garbage", 9), text.substr(0, text.size() / 2)}) {
    dir.write("multus-client-2026-01-02-03-04-05.pem", broken);
    const auto loaded = store.load();
    ASSERT_FALSE(loaded.has_value());
    EXPECT_EQ(loaded.error().code(), Errc::kInvalid);
    EXPECT_THAT(loaded.error().text(), HasSubstr("multus-client-current.pem"));
  }
}

TEST(PairStore, ADirectoryThatIsAFileIsAnErrorWithItsName) {
  const sys::TestDir dir;
  const PairStore store(dir.write("certs", "a file"));

  const auto saved = store.save(some_pair(), kNow);

  ASSERT_FALSE(saved.has_value());
  EXPECT_THAT(saved.error().text(), HasSubstr(dir / "certs"));
}

// A reader in a loop never finds the link missing or half of a file (F51).
TEST(PairStore, IsNeverSeenWithoutAPair) {
  const sys::TestDir dir;
  const PairStore store(dir.path());
  const Pair pair = some_pair();
  ASSERT_TRUE(store.save(pair, kNow).has_value());
  const pid_t writer = ::fork();
  if (writer == 0) {
    for (int i = 1; i < 40; ++i) (void)store.save(pair, kNow + i * 1s);
    ::_exit(0);
  }

  int bad = 0;
  int status = 0;
  while (::waitpid(writer, &status, WNOHANG) == 0) {
    const auto loaded = store.load();
    if (!loaded || !*loaded) ++bad;
  }

  EXPECT_EQ(bad, 0);
}

}  // namespace
}  // namespace mnet::certs
