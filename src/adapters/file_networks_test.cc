#include "adapters/file_networks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <utility>

#include "aio/blocking_pool.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/log.h"
#include "base/result.h"
#include "sys/test_dir.h"

namespace mnet::adapters {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FileNetworksTest : public testing::Test {
 protected:
  template <typename T>
  Result<T> run(aio::Task<T> task) {
    return aio::run(loop_, std::move(task));
  }
  void file(const std::string& name, const std::string& text) { dir_.write(name, text); }

  sys::TestDir dir_;
  aio::asio::io_context loop_{1};
  aio::BlockingPool pool_{1};
  FileNetworks networks_{pool_, Log()};
};

TEST_F(FileNetworksTest, LoadsAConfByteForByte) {
  const std::string text = "{ \"name\": \"n\",\n\"type\":\"t\" }\n";
  file("10-n.conf", text);

  auto delegate = run(networks_.by_path(dir_ / "10-n.conf"));

  ASSERT_TRUE(delegate) << delegate.error().text();
  EXPECT_EQ(delegate->bytes, text);
  EXPECT_EQ(delegate->cni_name, "n");
  EXPECT_FALSE(delegate->is_list);
}

// 02, 12: row 61
TEST_F(FileNetworksTest, LoadsAListWithItsChainedPlugins) {
  file("10-k.conflist", R"({"name":"k","plugins":[{"type":"i"}]})");
  file("k/60-b.conf", R"({"type":"b"})");
  file("k/50-a.conf", R"({"type":"a"})");

  auto delegate = run(networks_.by_path(dir_ / "10-k.conflist"));

  ASSERT_TRUE(delegate) << delegate.error().text();
  EXPECT_TRUE(delegate->is_list);
  EXPECT_TRUE(delegate->from_list_file);
  EXPECT_THAT(delegate->types, ElementsAre("i", "a", "b"));
  // What is stored is what is run.
  EXPECT_THAT(delegate->bytes, HasSubstr(R"({"type":"b"})"));
}

// 02, 12: rows 59, 60
TEST_F(FileNetworksTest, NeverTakesMultusItself) {
  file("00-multus.conf", R"({"name":"m","type":"multus-shim"})");
  file("10-x.conflist", R"({"name":"x","plugins":[{"type":"i"}]})");

  EXPECT_EQ(run(networks_.by_path(dir_.path()))->cni_name, "x");
  EXPECT_FALSE(run(networks_.by_path(dir_ / "00-multus.conf")));

  file("00-multus.conf", R"({"name":"m","type":"our-shim"})");
  EXPECT_EQ(run(networks_.by_path(dir_.path(), "our-shim"))->cni_name, "x");
}

TEST_F(FileNetworksTest, SaysWhatIsWrong) {
  file("bad.conf", R"({"name":"n"})");
  EXPECT_THAT(run(networks_.by_path(dir_ / "bad.conf")).error().text(),
              HasSubstr("missing 'type'"));
  EXPECT_THAT(run(networks_.by_path(dir_ / "none.conflist")).error().text(),
              HasSubstr("error loading CNI conflist file"));
}

TEST_F(FileNetworksTest, FindsAnAuxiliaryChainInOrBesideThePath) {
  file("10-x.conflist", "{}");
  file("aux/tuning.conf", R"({"type":"tuning"})");

  for (const std::string& path : {dir_.path(), dir_ / "10-x.conflist"}) {
    auto plugins = run(networks_.auxiliary_plugins(path, "aux"));
    ASSERT_TRUE(plugins) << plugins.error().text();
    ASSERT_EQ(plugins->size(), 1u);
    EXPECT_EQ(plugins->front().type, "tuning");
  }
  EXPECT_EQ(run(networks_.auxiliary_plugins(dir_.path(), "other"))->size(), 0u);
  EXPECT_FALSE(run(networks_.auxiliary_plugins(dir_.path(), "a\"b")));
}

TEST_F(FileNetworksTest, LooksForTheReadinessIndicator) {
  FileReadiness readiness(pool_);
  EXPECT_FALSE(*run(readiness.exists(dir_ / "ready")));
  EXPECT_TRUE(*run(readiness.exists(dir_.path())));
  file("ready", "");
  EXPECT_TRUE(*run(readiness.exists(dir_ / "ready")));
  EXPECT_FALSE(*run(readiness.exists(dir_ / "ready/below")));
}

}  // namespace
}  // namespace mnet::adapters
