// What holds for every pod, whatever it asks for: networks side by side give what networks one
// after another give; what ADD made is gone after a failure at any step and after DEL; plugins get
// the same configuration at ADD, CHECK and DEL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/task.h"
#include "attach/fake_ports.h"
#include "attach/node_fixture.h"
#include "attach/pod_fixture.h"
#include "attach/request_text.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "chain/plugins.h"
#include "cni/result.h"
#include "json/json.h"
#include "model/attachment_record.h"

namespace mnet::attach {
namespace {

using testing::IsEmpty;

// A generated pod with 0 to 8 networks, and where its definitions come from.
struct Generated {
  std::string annotation;
  std::vector<std::pair<std::string, std::string>> definitions;  // name, configuration
  std::vector<std::string> resources;                            // of each; empty: none
};

class AnyPod : public PodTest {
 protected:
  std::string pick(const std::vector<std::string>& from) { return from[random_() % from.size()]; }
  bool maybe() { return random_() % 2 == 0; }

  std::string random_config(const std::string& name) {
    const std::string version = pick({"0.3.1", "0.4.0", "1.0.0", "1.1.0"});
    const std::string head = cat(R"({"cniVersion":")", version, R"(","name":")", name, R"(",)");
    const std::string capable =
        R"(,"capabilities":{"mac":true,"ips":true,"portMappings":true,"CNIDeviceInfoFile":true})";
    std::size_t place = 0;
    const auto plugin = [&] {
      return cat(R"("place":)", place++, R"(,"type":")",
                 pick({"bridge", "macvlan", "sbr", "odd", "tuning"}), "\"", maybe() ? capable : "");
    };
    if (maybe()) return cat(head, plugin(), R"(, "big":9007199254740993})");
    std::vector<std::string> plugins;
    for (std::size_t p = 0; p <= random_() % 3; ++p) plugins.push_back(cat("{", plugin(), "}"));
    return cat(head, R"("plugins":[)", join(plugins, ","), "]}");
  }

  std::string random_element(const std::string& name, std::size_t index, bool& has_route) {
    std::string element = cat(R"({"name":")", name, "\"");
    if (maybe()) element += cat(R"(,"interface":"if)", index, "\"");
    if (maybe()) element += R"(,"mac":"c2:11:22:33:44:55")";
    if (maybe()) element += cat(R"(,"ips":["10.)", index, R"(.0.9/24"])");
    if (maybe()) element += R"(,"portMappings":[{"hostPort":80,"containerPort":8080}])";
    if (maybe()) element += R"(,"cni-args":{"a":1})";
    if (!has_route && random_() % 3 == 0) {
      has_route = true;
      element +=
          cat(R"(,"default-route":)", pick({"[]", R"(["10.9.9.9"])", R"(["10.9.9.9","fd00::9"])"}));
    }
    return element + "}";
  }

  Generated generate(std::size_t count) {
    Generated pod;
    std::vector<std::string> elements;
    bool has_route = false;
    for (std::size_t i = 1; i <= count; ++i) {
      const std::string name = cat("n", i);
      pod.definitions.emplace_back(name, random_config(name));
      pod.resources.push_back(maybe() ? "r.io/vf" : "");
      elements.push_back(random_element(name, i, has_route));
    }
    pod.annotation = cat("[", join(elements, ","), "]");
    return pod;
  }

  // Back to a node on which nothing ever happened, and that pod.
  void set_up(const Generated& pod) {
    forget();
    node_.plugins.errors.clear();
    node_.plugins.holds.clear();
    node_.routes.errors.clear();
    node_.routes.defaults.clear();
    node_.records.errors.clear();
    node_.source.status_error.reset();
    node_.source.events.clear();
    node_.source.statuses.clear();
    node_.source.networks.clear();
    node_.devices.ids["r.io/vf"] = {"d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8"};
    for (const std::string& id : node_.devices.ids["r.io/vf"]) {
      node_.device_infos.of_plugins[{"r.io/vf", id}] = json::Object{{"type", "pci"}};
    }
    for (std::size_t i = 0; i < pod.definitions.size(); ++i) {
      node_.source.add_network("ns1", pod.definitions[i].first, pod.definitions[i].second,
                               pod.resources[i]);
    }
    add_pod(pod.annotation);
  }

  void expect_nothing_left(const std::string& what) {
    EXPECT_THAT(node_.links.namespaces["/ns"], IsEmpty()) << what;
    EXPECT_THAT(node_.records.results, IsEmpty()) << what;
    EXPECT_THAT(node_.device_infos.files, IsEmpty()) << what;
  }

  static std::string conf_of(const std::string& mode) {
    return cat(R"("parallelAttach":")", mode, R"(",)", delegates({"a"}));
  }

  std::mt19937 random_{20260817};  // NOLINT(bugprone-random-generator-seed): the same each time
};

// Everything that others see or that is kept.
struct Outcome {
  std::string answer, status, record, scratch;
  std::vector<std::string> events;
  std::map<std::string, std::string> results, routes;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

class SideBySide : public AnyPod {
 protected:
  // Plugins of one ADD end in a random order.
  Outcome run(const std::string& mode, std::size_t count) {
    std::vector<std::shared_ptr<FakePlugins::Hold>> waiting;
    for (std::size_t i = 1; i <= count; ++i) {
      waiting.push_back(node_.plugins.hold(cat("ADD n", i)));
    }
    Result<cni::NetResult> result;
    aio::Group group(loop_.get_executor(), log_);
    group.spawn("add", adding_into(request(conf_of(mode)), &result));
    while (group.size() > 0) {
      loop_.restart();
      loop_.poll();
      std::ranges::shuffle(waiting, random_);
      const auto next =
          std::ranges::find_if(waiting, [](const auto& hold) { return hold->reached.is_set(); });
      if (next == waiting.end()) continue;
      (*next)->release.set();
      waiting.erase(next);
    }
    return outcome(result);
  }

  aio::Task<void> adding_into(RequestText request, Result<cni::NetResult>* result) {
    *result = co_await pods_.add(std::move(request));
    co_return Result<void>();
  }

  Outcome outcome(const Result<cni::NetResult>& result) {
    Outcome all;
    all.answer = result ? json::dump(cni::to_json(*result)) : result.error().text();
    all.status = status();
    all.events = node_.source.events;
    model::AttachmentRecord kept = record();
    for (model::RecordedAttachment& attachment : kept.attachments) attachment.added_at.clear();
    all.record = json::dump(model::encode_record(kept));
    if (node_.records.scratch.contains("c1")) {
      all.scratch = json::dump(node_.records.scratch.at("c1"));
    }
    for (const auto& [name, entry] : node_.records.results) {
      all.results[name] = cat(entry.config, json::dump(entry.capability_args),
                              json::dump(entry.result.value_or(json::Value())));
    }
    for (const auto& [key, gateway] : node_.routes.defaults) {
      all.routes[cat(key.first, FakeRoutes::name_of(key.second))] = gateway;
    }
    return all;
  }
};

// pain 20
TEST_F(SideBySide, GivesWhatOneAfterAnotherGives) {
  for (int round = 0; round < 60; ++round) {
    const std::size_t count = static_cast<std::size_t>(round) % 9;
    const Generated pod = generate(count);
    std::map<std::string, Outcome> outcomes;
    const bool fails = round % 4 == 3;
    for (const std::string mode : {"off", "safe", "all"}) {
      set_up(pod);
      if (fails) {
        node_.plugins.errors.emplace(cat("ADD n", count / 2), Error(Errc::kPlugin, "no"));
      }
      outcomes[mode] = run(mode, count);
      node_.plugins.errors.clear();
      ASSERT_TRUE(del(request(conf_of(mode))));
      expect_nothing_left(pod.annotation);
    }
    for (const std::string mode : {"safe", "all"}) {
      EXPECT_EQ(outcomes[mode].answer, outcomes["off"].answer) << mode << pod.annotation;
      EXPECT_EQ(outcomes[mode].status, outcomes["off"].status) << mode;
      if (fails) continue;  // who had started or ended by then differs
      EXPECT_EQ(outcomes[mode].scratch, outcomes["off"].scratch) << mode;
      EXPECT_EQ(outcomes[mode].events, outcomes["off"].events) << mode;
      EXPECT_EQ(outcomes[mode].record, outcomes["off"].record) << mode;
      EXPECT_TRUE(outcomes[mode] == outcomes["off"]) << mode << pod.annotation;
    }
  }
}

class Undoing : public AnyPod {
 protected:
  void SetUp() override {
    // A plugin that makes its link even when it fails half-way, and removes it on DEL only.
    node_.plugins.on_run = [this](const chain::PluginRun& run) {
      auto& links = node_.links.namespaces["/ns"];
      if (run.command == "ADD") links.insert(run.ifname);
      if (run.command == "DEL") links.erase(run.ifname);
    };
  }

  // Lets one step of an undisturbed ADD fail.
  void make_fail(const std::string& step) {
    const Error error(Errc::kIo, "injected");
    if (step.starts_with("write status")) {
      node_.source.status_error = error;
    } else if (step.starts_with("ADD ")) {
      node_.plugins.errors.emplace(step.substr(0, step.rfind(' ')), error);
    } else if (step.contains(" default ")) {
      node_.routes.errors.emplace(step, error);
    } else {
      node_.records.errors.emplace(step, error);
    }
  }
};

// 02, 12: row 149, in memory
TEST_F(Undoing, LeavesNothingBehindWhateverStepFails) {
  for (std::size_t count = 0; count <= 8; ++count) {
    const Generated pod = generate(count);
    const std::string conf = conf_of(count % 2 == 0 ? "safe" : "all");
    set_up(pod);
    ASSERT_TRUE(add(request(conf))) << pod.annotation;
    const std::vector<std::string> steps = node_.calls;
    ASSERT_TRUE(del(request(conf)));
    expect_nothing_left(pod.annotation);

    for (const std::string& step : steps) {
      set_up(pod);
      make_fail(step);
      ASSERT_FALSE(add(request(conf))) << step;
      EXPECT_THAT(node_.links.namespaces["/ns"], IsEmpty()) << step;
      EXPECT_THAT(node_.device_infos.files, IsEmpty()) << step;
      node_.records.errors.clear();
      ASSERT_TRUE(del(request(conf))) << step;
      expect_nothing_left(step);
      EXPECT_THAT(node_.records.scratch, IsEmpty()) << step;
      EXPECT_THAT(node_.records.records, IsEmpty()) << step;
    }
  }
}

class SameBytes : public AnyPod {
 protected:
  // The configuration of each run of `command`, without what differs by rule: the previous result.
  std::map<std::string, std::string> inputs(const std::string& command) {
    std::map<std::string, std::string> by_run;
    for (const chain::PluginRun& run : node_.plugins.runs) {
      if (run.command != command) continue;
      json::Object config = json::parse_object(run.config).value();
      config.erase("prevResult");
      const json::Value* place = config.find("place");
      by_run[cat(FakePlugins::text_in(config, "name"), " ", run.ifname, " ",
                 place == nullptr ? std::string() : json::dump(*place))] = json::dump(config);
    }
    return by_run;
  }
};

TEST_F(SameBytes, ReachPluginsAtAddCheckAndDel) {
  for (std::size_t round = 0; round < 40; ++round) {
    const Generated pod = generate(round % 9);
    const std::string conf = conf_of("safe");
    set_up(pod);
    ASSERT_TRUE(add(request(conf))) << pod.annotation;
    // The definitions have changed or are gone by then.
    for (const auto& [name, config] : pod.definitions) define(name, "other");
    if (round % 2 == 0) node_.source.networks.clear();
    ASSERT_TRUE(check(request(conf)));
    ASSERT_TRUE(del(request(conf)));

    const auto added = inputs("ADD");
    EXPECT_EQ(inputs("DEL"), added) << pod.annotation;
    for (const auto& [run, config] : inputs("CHECK")) {
      ASSERT_TRUE(added.contains(run)) << run;
      EXPECT_EQ(config, added.at(run));
    }
  }
}

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
