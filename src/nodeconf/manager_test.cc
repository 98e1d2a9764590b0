#include "nodeconf/manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/group.h"
#include "aio/run.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/test_log.h"
#include "base/text.h"
#include "base/try.h"
#include "nodeconf/file_keeper.h"
#include "nodeconf/own_file.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::nodeconf {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

std::string conf(std::string_view more) {
  return cat(R"({"cniVersion":"1.0.0","name":"p","type":"bridge")", more, "}");
}

std::string with_capability(std::string_view name) {
  return conf(cat(R"(,"capabilities":{")", name, R"(":true})"));
}

// A manager in a directory of its own, with time running faster.
class ManagerTest : public testing::Test {
 protected:
  ManagerTest() {
    options_.settings.cni_version = "1.0.0";
    options_.autoconfig_dir = dir_.path();
    options_.cni_config_dir = dir_.path();
    options_.pace = {
        .settle = 5ms, .poll = 10s, .retry = 20ms, .retry_often = 60s, .line = 30s, .peace = 600s};
  }
  ~ManagerTest() override { stop(); }

  Manager& manager() {
    if (manager_) return *manager_;
    ManagerHooks hooks;
    hooks.hinder = [this](std::string why) { hindrance_ = std::move(why); };
    hooks.unhinder = [this] { hindrance_.reset(); };
    hooks.wrote = [this](bool succeeded) { writes_.push_back(succeeded); };
    hooks.fought = [this] { ++fights_; };
    hooks.is_owner = [this] { return is_owner_; };
    manager_ = std::make_unique<Manager>(pool_, options_, std::move(hooks),
                                         Log({lines_}, LogLevel::kDebug));
    return *manager_;
  }

  void start(aio::Task<void> task) {
    if (!group_) group_ = std::make_unique<aio::Group>(loop_.get_executor(), Log());
    group_->spawn("task", std::move(task));
  }
  void stop() {
    if (!group_) return;
    group_->cancel();
    (void)aio::run(loop_, group_->join());
  }
  // Finds, writes and follows.
  void run() {
    ASSERT_TRUE(aio::run(loop_, manager().find()).has_value());
    ASSERT_TRUE(aio::run(loop_, manager().publish()).has_value());
    start(manager().follow());
  }

  static aio::Task<void> poll_for(std::function<bool()> fact) {
    for (int i = 0; i < 12000; ++i) {
      if (fact()) co_return Result<void>();
      MNET_CO_TRY_VOID(co_await aio::sleep_for(5ms));
    }
    co_return Error(Errc::kTimeout, "it never came true");
  }
  bool until(std::function<bool()> fact) {
    return aio::run(loop_, poll_for(std::move(fact))).has_value();
  }
  bool until_said(const std::string& text) {
    return until([this, text] { return lines_->has(text); });
  }

  std::string own() const { return sys::find_file(own_path_).value().value_or("(none)"); }

  sys::TestDir dir_;
  std::string own_path_ = dir_ / "00-multus.conf";
  bool is_owner_ = true;
  ManagerOptions options_;
  std::shared_ptr<TestLog> lines_ = std::make_shared<TestLog>();
  std::optional<std::string> hindrance_;
  std::vector<bool> writes_;
  int fights_ = 0;
  aio::asio::io_context loop_{1};
  aio::BlockingPool pool_{2};
  std::unique_ptr<Manager> manager_;
  std::unique_ptr<aio::Group> group_;
};

TEST_F(ManagerTest, RefusesWhatNoPrimaryCouldMend) {
  EXPECT_TRUE(manager().check().has_value());
  for (const auto& spoil : std::vector<std::function<void(ManagerOptions&)>>{
           [](ManagerOptions& options) { options.settings.cni_version = "1.0"; },
           [](ManagerOptions& options) { options.settings.cni_version = ""; },
           [](ManagerOptions& options) { options.master = "00-multus-x.conf"; },
           [this](ManagerOptions& options) { options.autoconfig_dir = dir_ / "gone"; },
           [this](ManagerOptions& options) { options.indicator = dir_ / "gone/ready"; }}) {
    ManagerOptions spoilt = options_;
    spoil(spoilt);
    EXPECT_FALSE(Manager(pool_, spoilt, {}, Log()).check().has_value());
  }
}

// 03, 12: row 122
TEST_F(ManagerTest, WaitsForAPrimaryAndSaysWhatFor) {
  start(manager().find());
  ASSERT_TRUE(until([this] { return hindrance_.has_value(); }));
  EXPECT_THAT(*hindrance_, HasSubstr("could not find a plugin configuration in " + dir_.path()));

  dir_.write("10-p.conf", "{");
  ASSERT_TRUE(until([this] { return hindrance_->ends_with("multusMasterCNI"); }));
  EXPECT_THAT(*hindrance_, HasSubstr("; correct " + (dir_ / "10-p.conf") + ", or name another"));
  dir_.write("10-p.conf", conf(""));

  EXPECT_TRUE(until([this] { return !hindrance_; }));
  EXPECT_TRUE(until_said("the primary CNI configuration is " + (dir_ / "10-p.conf")));
  EXPECT_EQ(own(), "(none)");
}

// A broken file that is removed gives way to the next; one that is there does not.
TEST_F(ManagerTest, ChoosesAnewOnlyUntilItHasOne) {
  dir_.write("10-broken.conf", "{");
  dir_.write("20-p.conf", conf(""));
  start(manager().find());
  ASSERT_TRUE(until([this] { return hindrance_.has_value(); }));

  std::filesystem::remove(dir_ / "10-broken.conf");

  EXPECT_TRUE(until_said("the primary CNI configuration is " + (dir_ / "20-p.conf")));
}

TEST_F(ManagerTest, EndsTheStartIfAnOptionAsksForWhatThePrimaryLacks) {
  options_.settings.override_network_name = true;
  dir_.write("10-p.conf", R"({"cniVersion":"1.0.0","name":7,"type":"t"})");
  const auto found = aio::run(loop_, manager().find());
  ASSERT_FALSE(found.has_value());
  EXPECT_THAT(found.error().text(), HasSubstr("could not override the network name"));
}

TEST_F(ManagerTest, WaitsIfThatPrimaryComesLater) {
  options_.settings.override_network_name = true;
  options_.forces_version = true;
  start(manager().find());
  ASSERT_TRUE(until([this] { return hindrance_.has_value(); }));

  dir_.write("10-p.conf", "***");
  ASSERT_TRUE(until_said("failed to unmarshall cni config"));
  dir_.write("10-p.conf", R"({"name":7,"type":"t"})");
  ASSERT_TRUE(until_said("could not override the network name"));
  dir_.write("10-p.conf", R"({"name":"good","type":"t"})");

  EXPECT_TRUE(until([this] { return !hindrance_; }));
}

TEST_F(ManagerTest, WritesWhatThePrimaryAsksForAndFollowsIt) {
  dir_.write("10-p.conf", conf(""));
  run();
  EXPECT_THAT(own(), HasSubstr("\"clusterNetwork\":\"" + (dir_ / "10-p.conf") + "\""));

  dir_.write("10-p.conf", with_capability("bandwidth"));

  EXPECT_TRUE(until([this] { return own().find("bandwidth") != std::string::npos; }));
  EXPECT_TRUE(until([this] { return writes_.size() == 2; }));
  EXPECT_THAT(writes_, ElementsAre(true, true));
}

// Pain 10
TEST_F(ManagerTest, KeepsTheLastGoodTextWhileThePrimaryIsBroken) {
  dir_.write("10-p.conf", with_capability("first"));
  run();
  const std::string before = own();

  dir_.write("10-p.conf", "");
  ASSERT_TRUE(until_said("stays unchanged until " + (dir_ / "10-p.conf") + " is corrected: "));
  std::filesystem::remove(dir_ / "10-p.conf");
  ASSERT_TRUE(until_said("is gone; " + own_path_ + " stays"));
  EXPECT_EQ(own(), before);
  EXPECT_FALSE(hindrance_.has_value());
  dir_.write("10-p.conf", with_capability("second"));

  EXPECT_TRUE(until([this] { return own().find("second") != std::string::npos; }));
}

// Pain 11
TEST_F(ManagerTest, PutsItsFileBackOnceThenReportsAFight) {
  dir_.write("10-p.conf", conf(""));
  run();
  const std::string text = own();

  std::filesystem::remove(own_path_);
  ASSERT_TRUE(until([&] { return own() == text; }));
  ASSERT_TRUE(until_said("removed " + own_path_ + "; it was put back"));
  EXPECT_EQ(fights_, 0);
  std::filesystem::rename(own_path_, own_path_ + ".cilium_bak");
  ASSERT_TRUE(until([this] { return hindrance_.has_value(); }));

  EXPECT_EQ(fights_, 1);
  EXPECT_THAT(*hindrance_, HasSubstr("00-multus.conf.cilium_bak"));
  EXPECT_THAT(*hindrance_, HasSubstr("set cni.exclusive to false"));
  EXPECT_EQ(own(), "(none)");
  std::filesystem::rename(own_path_ + ".cilium_bak", own_path_);
  EXPECT_TRUE(until([this] { return !hindrance_; }));
  EXPECT_EQ(fights_, 1);
}

TEST_F(ManagerTest, TriesAgainWhenTheFightIsLongAgo) {
  options_.pace.peace = 3s;  // the second loss must be seen within
  options_.pace.poll = 20ms;
  dir_.write("10-p.conf", conf(""));
  run();
  const std::string text = own();

  std::filesystem::remove(own_path_);
  ASSERT_TRUE(until([&] { return own() == text; }));
  std::filesystem::remove(own_path_);
  ASSERT_TRUE(until([this] { return fights_ == 1; }));

  EXPECT_TRUE(until([&] { return own() == text; }));
  EXPECT_TRUE(until([this] { return !hindrance_; }));
}

// Pain 3: without the file pods start on the primary network alone.
TEST_F(ManagerTest, IsNotReadyWhileItsFileCannotBePutBack) {
  options_.pace.poll = 20ms;
  dir_.write("10-p.conf", conf(""));
  run();
  const std::string text = own();

  std::filesystem::remove(own_path_);
  std::filesystem::create_directory(own_path_);
  ASSERT_TRUE(until([this] { return hindrance_.has_value(); }));
  EXPECT_THAT(*hindrance_, HasSubstr("it cannot be put back"));
  std::filesystem::remove(own_path_);

  EXPECT_TRUE(until([this] { return !hindrance_; }));
  EXPECT_EQ(own(), text);
  EXPECT_EQ(fights_, 0);
}

// What it writes beside and removes again is an event of the directory that it watches.
TEST_F(ManagerTest, IsNotWokenByItsOwnFailures) {
  options_.pace.retry = 60s;
  dir_.write("10-p.conf", conf(""));
  run();

  std::filesystem::remove(own_path_);
  std::filesystem::create_directory(own_path_);
  ASSERT_TRUE(until([this] { return hindrance_.has_value(); }));
  dir_.write("05-q.conf", conf(""));
  ASSERT_TRUE(until_said("05-q.conf sorts before"));

  EXPECT_THAT(writes_, ElementsAre(true, false));
}

// No byte can be written by this process while it lives.
class FullDisk {
 public:
  FullDisk() {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
};

TEST_F(ManagerTest, WritesLaterWhatItCouldNotWrite) {
  options_.pace.poll = 20ms;
  dir_.write("10-p.conf", conf(""));
  run();
  const std::string text = own();
  dir_.write("next", with_capability("second"));

  {
    const FullDisk full;
    std::filesystem::rename(dir_ / "next", dir_ / "10-p.conf");
    ASSERT_TRUE(until([this] { return writes_.size() > 1; }));
    EXPECT_FALSE(writes_.back());
    EXPECT_EQ(own(), text);
  }

  EXPECT_TRUE(until([this] { return own().find("second") != std::string::npos; }));
}

// Restarted for ever, the daemon would serve no pod of a node whose disk is full.
TEST_F(ManagerTest, StartsWithTheFileOfAnEarlierRunWhileItCannotWrite) {
  options_.pace.poll = 20ms;
  dir_.write("10-p.conf", with_capability("second"));
  const std::string earlier = R"({"name":"multus-cni-network","type":"multus-shim"})";
  dir_.write("00-multus.conf", earlier);

  {
    const FullDisk full;
    run();
    ASSERT_TRUE(until([this] { return writes_.size() > 1; }));
    EXPECT_FALSE(writes_.back());
    EXPECT_EQ(own(), earlier);
  }

  EXPECT_TRUE(until([this] { return own().find("second") != std::string::npos; }));
  EXPECT_FALSE(hindrance_);
}

TEST_F(ManagerTest, DoesNotStartWithAFileThatNoRuntimeReads) {
  dir_.write("10-p.conf", conf(""));
  dir_.write("00-multus.conf", "{");
  const FullDisk full;

  ASSERT_TRUE(aio::run(loop_, manager().find()).has_value());
  EXPECT_FALSE(aio::run(loop_, manager().publish()).has_value());
}

TEST_F(ManagerTest, RemovesOnlyItsOwnFile) {
  dir_.write("10-p.conf", conf(""));
  run();
  stop();
  OwnFile successor(own_path_);
  ASSERT_TRUE(successor.write(own()).has_value());

  EXPECT_FALSE(manager().withdraw().value());
  EXPECT_NE(own(), "(none)");
}

TEST_F(ManagerTest, SaysOfAnEarlierFileThatItIsNotTaken) {
  dir_.write("10-p.conf", conf(""));
  run();

  dir_.write("05-q.conf", conf(""));

  EXPECT_TRUE(until_said("05-q.conf sorts before the primary 10-p.conf"));
  EXPECT_THAT(own(), HasSubstr("10-p.conf"));
  EXPECT_THAT(writes_, ElementsAre(true));
}

TEST_F(ManagerTest, CannotWriteWithoutADirectory) {
  options_.cni_config_dir = dir_ / "gone";
  dir_.write("10-p.conf", conf(""));
  ASSERT_TRUE(aio::run(loop_, manager().find()).has_value());

  EXPECT_FALSE(aio::run(loop_, manager().publish()).has_value());
  EXPECT_THAT(writes_, ElementsAre(false));
}

// Pain 43.
TEST_F(ManagerTest, LeavesTheFileToAnotherDaemonThatServesTheNode) {
  dir_.write("10-p.conf", conf(""));
  run();
  const std::string before = own();
  is_owner_ = false;

  dir_.write("10-p.conf", with_capability("bandwidth"));
  ASSERT_TRUE(until_said("\"bandwidth\""));
  std::filesystem::remove(own_path_);
  dir_.write("10-p.conf", with_capability("ips"));
  ASSERT_TRUE(until_said("\"ips\""));
  dir_.write("10-p.conf", with_capability("mac"));
  ASSERT_TRUE(until_said("\"mac\""));

  EXPECT_THAT(before, testing::Not(HasSubstr("bandwidth")));
  EXPECT_EQ(own(), "(none)");
}

}  // namespace
}  // namespace mnet::nodeconf
