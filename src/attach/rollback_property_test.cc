// Whatever fails at whatever step: what ADD made, rollback and DEL remove, newest first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "attach/node_fixture.h"
#include "base/error.h"
#include "base/text.h"
#include "chain/plugins.h"

namespace mnet::attach {
namespace {

using testing::IsEmpty;

// A plugin that makes its link even when it fails half-way, and removes it on DEL only.
class HalfDoingNode : public NodeTest {
 protected:
  void SetUp() override {
    node_.plugins.on_run = [this](const chain::PluginRun& run) {
      if (run.command == "ADD") made_.push_back(run.ifname + run.binary);
      if (run.command == "DEL") {
        removed_.push_back(run.ifname + run.binary);
        node_.links.namespaces["/ns"].erase(run.ifname);
      }
      if (run.command == "ADD") node_.links.namespaces["/ns"].insert(run.ifname);
    };
  }

  // Confs and lists of one to three plugins, in versions with and without a previous result.
  std::string random_delegates(std::size_t count, std::mt19937& random) {
    std::vector<std::string> entries;
    for (std::size_t i = 0; i < count; ++i) {
      const char* version = std::vector{"0.3.1", "0.4.0", "1.0.0", "1.1.0"}[random() % 4];
      const std::string head = cat(R"({"cniVersion":")", version, R"(","name":"n)", i, R"(",)");
      if (random() % 2 == 0) {
        entries.push_back(cat(head, R"("type":")", types_[0], R"("})"));
        continue;
      }
      std::vector<std::string> plugins;
      for (std::size_t p = 0; p <= random() % 3; ++p) {
        plugins.push_back(cat(R"({"type":")", types_[p], R"("})"));
      }
      entries.push_back(cat(head, R"("plugins":[)", join(plugins, ","), "]}"));
    }
    return cat(R"("delegates":[)", join(entries, ","), "]");
  }

  // The steps of an undisturbed ADD, each of which may fail.
  std::vector<std::string> steps_of(const std::string& conf) {
    reset();
    EXPECT_TRUE(add(request(conf)));
    const std::vector<std::string> steps = node_.calls;
    EXPECT_TRUE(del(request(conf)));
    reset();
    return steps;
  }

  void reset() {
    forget();
    made_.clear();
    removed_.clear();
    node_.plugins.errors.clear();
    node_.records.errors.clear();
  }

  void fail_everywhere();

  std::vector<std::string> types_ = {"t0", "t1", "t2"};
  std::vector<std::string> made_, removed_;
};

// A subsequence: every plugin that ran is deleted after every one that ran later. Deleted is more
// than was made: a list that failed in its first plugin is taken down as a whole.
bool is_reverse_within(const std::vector<std::string>& made,
                       const std::vector<std::string>& removed) {
  auto at = removed.begin();
  for (auto it = made.rbegin(); it != made.rend(); ++it) {
    at = std::find(at, removed.end(), *it);
    if (at == removed.end()) return false;
    ++at;
  }
  return true;
}

void HalfDoingNode::fail_everywhere() {
  std::mt19937 random(20260816);  // NOLINT(bugprone-random-generator-seed): the same each time
  for (std::size_t count = 1; count <= 8; ++count) {
    const std::string conf = random_delegates(count, random);
    const std::vector<std::string> steps = steps_of(conf);
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::string& type : types_) {
        reset();
        node_.plugins.errors.emplace(cat("ADD n", i, " ", type), Error(Errc::kPlugin, "no"));
        auto added = add(request(conf));
        if (!added) EXPECT_TRUE(is_reverse_within(made_, removed_)) << conf << i << type;
        if (!added) EXPECT_THAT(node_.links.namespaces["/ns"], IsEmpty());
        if (!added) EXPECT_THAT(node_.records.results, IsEmpty()) << conf << i << type;
        EXPECT_EQ(node_.plugins.early, 0) << conf << i << type;
        node_.plugins.errors.clear();
        ASSERT_TRUE(del(request(conf)));
        EXPECT_THAT(node_.records.scratch, IsEmpty());
      }
    }
    for (const std::string& step : steps) {
      if ((step[0] >= 'A' && step[0] <= 'Z') || step.starts_with("early ")) continue;
      reset();
      node_.records.errors.emplace(step, Error(Errc::kIo, "disk"));
      ASSERT_FALSE(add(request(conf))) << step;
      EXPECT_TRUE(is_reverse_within(made_, removed_)) << step;
      EXPECT_THAT(node_.links.namespaces["/ns"], IsEmpty()) << step;
      EXPECT_EQ(node_.plugins.early, 0) << step;
      node_.records.errors.clear();
      ASSERT_TRUE(del(request(conf)));
      EXPECT_THAT(node_.records.scratch, IsEmpty()) << step;
      EXPECT_THAT(node_.records.results, IsEmpty()) << step;
    }
  }
}

TEST_F(HalfDoingNode, EveryFailureAtEveryStepLeavesNothingBehind) { fail_everywhere(); }

TEST_F(HalfDoingNode, EveryFailureEndsThePluginsThatWereStartedEarly) {
  types_ = {"sbr", "bridge", "portmap"};  // the first keeps networks from running side by side
  node_.plugins.has_room_to_spare = true;
  fail_everywhere();
}

TEST_F(HalfDoingNode, AnyNumberOfFailedDelsIsFinishedByRetries) {
  std::mt19937 random(42);  // NOLINT(bugprone-random-generator-seed): the same each time
  for (std::size_t count = 1; count <= 8; ++count) {
    const std::string conf = cat(R"("retryDeleteOnError":true,)", random_delegates(count, random));
    ASSERT_TRUE(add(request(conf)));
    std::vector<std::string> failing;
    for (std::size_t i = 0; i < count; ++i) {
      if (random() % 2 == 0) failing.push_back(cat("DEL n", i));
    }
    for (const std::string& step : failing) {
      node_.plugins.errors.emplace(step, Error(Errc::kPlugin, "stuck"));
    }
    while (!failing.empty()) {
      EXPECT_FALSE(del(request(conf)));
      EXPECT_TRUE(node_.records.scratch.contains("c1"));
      node_.plugins.errors.erase(failing.back());
      failing.pop_back();
      forget();
    }
    ASSERT_TRUE(del(request(conf)));
    EXPECT_THAT(node_.links.namespaces["/ns"], IsEmpty());
    EXPECT_THAT(node_.records.scratch, IsEmpty());
    EXPECT_THAT(node_.records.results, IsEmpty());
    reset();
  }
}

}  // namespace
}  // namespace mnet::attach
