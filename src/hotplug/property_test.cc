// Whatever requests come in whatever order, whatever fails: nothing is left in the end, and what
// was unplugged before is not deleted again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "attach/fake_ports.h"
#include "base/error.h"
#include "base/text.h"
#include "chain/fake_ports.h"
#include "chain/plugins.h"
#include "hotplug/hotplug_fixture.h"
#include "json/json.h"
#include "model/attachment_record.h"

namespace mnet::hotplug {
namespace {

using testing::IsEmpty;

class HotplugSequences : public HotplugTest {
 protected:
  void SetUp() override {
    node_.plugins.on_run = [this](const chain::PluginRun& run) { watch(run); };
  }

  // The plugins' own view: what may hold something, and what was deleted since.
  void watch(const chain::PluginRun& run) {
    const json::Object config = json::parse_object(run.config).value();
    const std::string network = chain::FakePlugins::text_in(config, "name");
    const std::string what = cat(network, " ", run.ifname);
    const bool fails = node_.plugins.errors.contains(cat(run.command, " ", network));
    if (run.command == "ADD") {
      holds_.insert(what);
      unplugged_.erase(what);
      node_.links.namespaces["/ns"].insert(run.ifname);
    }
    if (run.command == "DEL") {
      // Without a scratch file a DEL runs what is configured, whether or not it is there (02, 6.2).
      const bool has_list = node_.records.scratch.contains("c1");
      if (unplugged_.contains(what) && what != asked_for_ && has_list) twice_.push_back(what);
      if (fails) return;
      holds_.erase(what);
      node_.links.namespaces["/ns"].erase(run.ifname);
    }
  }

  std::string cold() const { return cat(delegates({"n0", "n1", "n2", "n3"}), retry_); }

  void disturb(std::mt19937& random) {
    node_.plugins.errors.clear();
    if (random() % 3 != 0) return;
    const char* command = random() % 2 == 0 ? "ADD" : "DEL";
    const std::string network = cat(random() % 2 == 0 ? "n" : "x", random() % 4);
    node_.plugins.errors.insert_or_assign(cat(command, " ", network), Error(Errc::kPlugin, "no"));
  }
  void lose_a_book(std::mt19937& random) {
    if (random() % 40 == 0) node_.records.records.clear();
    if (random() % 40 == 0 && node_.records.records.contains("c1")) {
      node_.records.damaged_records.insert("c1");
    } else {
      node_.records.damaged_records.clear();
    }
  }

  void step(std::mt19937& random) {
    const std::string ifname = cat("net", 1 + random() % 6);
    const std::string network = cat(random() % 3 == 0 ? "n" : "x", random() % 4);
    asked_for_.clear();
    switch (random() % 8) {
      case 0:
        add_and_look();
        break;
      case 1:
      case 2:
      case 3:
        plug_and_look(ifname, network);
        break;
      case 4:
      case 5:
        asked_for_ = cat(network, " ", ifname);  // a client may ask for what is not there
        unplug_and_look(ifname, network);
        break;
      case 6:
        (void)check(request(cold()));
        break;
      default:
        if (random() % 3 == 0) (void)del(request(cold()));
        break;
    }
  }

  // A list made anew is a new one, even where its networks were not attached in the end.
  void add_and_look() {
    const std::size_t before = node_.plugins.runs.size();
    (void)add(request(cold()));
    if (node_.plugins.runs.size() != before) unplugged_.clear();
  }
  void plug_and_look(const std::string& ifname, const std::string& network) {
    const std::size_t before = node_.plugins.runs.size();
    auto added = plug(request_of(ifname, network));
    if (!added) return;
    EXPECT_TRUE(holds_.contains(cat(network, " ", ifname)));
    if (node_.plugins.runs.size() == before) return;  // answered from the record
    const model::AttachmentRecord record = recorded();
    ASSERT_NE(record.find(ifname), nullptr);
    EXPECT_EQ(record.find(ifname)->state, model::AttachmentState::kAttached);
  }
  void unplug_and_look(const std::string& ifname, const std::string& network) {
    const std::string what = cat(network, " ", ifname);
    const bool was_there = holds_.contains(what);
    auto removed = unplug(request_of(ifname, network));
    if (!removed) return;
    EXPECT_FALSE(holds_.contains(what));
    if (was_there) unplugged_.insert(what);
  }

  std::set<std::string> holds_, unplugged_;
  std::vector<std::string> twice_;
  std::string asked_for_;
  std::string retry_;
};

TEST_F(HotplugSequences, LeaveNothingAndDeleteNothingThatWasUnplugged) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    std::mt19937 random(seed);
    retry_ = random() % 2 == 0 ? R"(,"retryDeleteOnError":true)" : "";
    for (int i = 0; i < 40; ++i) {
      disturb(random);
      lose_a_book(random);
      step(random);
    }
    node_.plugins.errors.clear();
    asked_for_.clear();

    ASSERT_TRUE(del(request(cold())));

    ASSERT_THAT(holds_, IsEmpty());
    ASSERT_THAT(twice_, IsEmpty()) << join(node_.calls, "\n");
    ASSERT_THAT(node_.records.records, IsEmpty());
    ASSERT_THAT(node_.records.damaged_records, IsEmpty());
    ASSERT_THAT(node_.records.scratch, IsEmpty());
    ASSERT_THAT(node_.records.results, IsEmpty());
    unplugged_.clear();
    lines_->clear();
    forget();
  }
}

}  // namespace
}  // namespace mnet::hotplug
