#include "upkeep/upkeep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "attach/core.h"
#include "attach/fake_ports.h"
#include "attach/node_fixture.h"
#include "attach/request.h"
#include "attach/request_text.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "cni/args.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "upkeep/decision.h"
#include "upkeep/rule.h"

namespace mnet::upkeep {
namespace {

using attach::RequestText;
using model::RecordState;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr const char* kDir = "/var/lib/cni/multus";

class FakeUpkeepNode : public Node {
 public:
  FakeUpkeepNode(attach::FakeNode& node, Log log) : node_(node), log_(std::move(log)) {}

  std::set<std::string> directories() const override { return {kDir}; }
  aio::Task<std::vector<std::string>> list_records(std::string) override {
    std::vector<std::string> ids;
    for (const auto& [id, record] : node_.records.records) ids.push_back(id);
    co_return ids;
  }
  aio::Task<std::vector<std::string>> list_pending(std::string) override {
    std::vector<std::string> files;
    for (const auto& [key, body] : node_.pending.bodies) files.push_back(cat(key, ".json"));
    if (on_pending_listed) on_pending_listed();
    co_return files;
  }
  aio::Task<std::vector<std::string>> list_set_aside(std::string) override { co_return set_aside; }
  aio::Task<bool> is_in_work(std::string, std::string container_id) override {
    co_return in_work.contains(container_id);
  }
  bool knows_pods() const override { return true; }
  PodState find_pod(const model::AttachmentRecord& record) const override {
    if (!is_synced) return PodState::kUnknown;
    const auto found = pods.find(record.pod_uid);
    return found == pods.end() ? PodState::kAbsent : found->second;
  }
  aio::Task<std::set<std::uint64_t>> list_used_namespaces() override {
    if (processes_error) co_return *processes_error;
    std::set<std::uint64_t> used;
    for (const auto& [netns, inode] : node_.links.inodes) {
      if (!left.contains(netns)) used.insert(inode);
    }
    co_return used;
  }
  bool sees_host() const override { return sees; }
  Result<attach::Request> make_del(const std::string&, const model::AttachmentRecord& record,
                                   const std::string& ifname) override {
    RequestText text;
    text.container_id = record.container_id;
    text.netns = record.netns;
    text.ifname = ifname;
    text.path = record.cni_path;
    text.args = cni::args_text(record.cni_args);
    text.config = R"({"name":"multus","type":"multus","delegates":[{"name":"x","type":"fake"}]})";
    text.pending_body = "as recorded";
    text.id = "r7";
    return attach::read_text(attach::Verb::kDel, text, log_);
  }
  aio::Task<std::shared_ptr<void>> take_turn(attach::Request) override {
    if (on_turn) on_turn();
    co_return std::make_shared<int>(0);
  }
  void count(std::string_view action, bool succeeded) override {
    counts.push_back(cat(action, succeeded ? " done" : " failed"));
  }

  std::map<std::string, PodState> pods;  // by UID
  bool is_synced = true, sees = true;
  std::set<std::string> left;  // namespaces without a process
  std::vector<std::string> set_aside;
  std::set<std::string> in_work;
  std::optional<Error> processes_error;
  std::function<void()> on_turn, on_pending_listed;
  std::vector<std::string> counts;

 private:
  attach::FakeNode& node_;
  Log log_;
};

class UpkeepTest : public attach::NodeTest {
 protected:
  UpkeepTest() { attachments_.typed().core().options.boot_id = "boot"; }

  // A container of pod `uid` in a namespace of its own, with addresses on networks of its own: what
  // living containers hold is tested with the rule.
  void add_container(const std::string& id, const std::string& uid, const std::string& ns = "ns1") {
    const std::string netns = cat("/", id);
    node_.links.namespaces[netns];
    node_.links.inodes[netns] = ++inode_;
    RequestText text = request(delegates({cat("n-", id)}));
    text.container_id = id;
    text.netns = netns;
    text.args =
        uid.empty() ? "" : cat("K8S_POD_NAMESPACE=", ns, ";K8S_POD_NAME=p;K8S_POD_UID=", uid);
    auto added = add(text);
    ASSERT_TRUE(added) << added.error().text();
    forget();
    if (!uid.empty()) around_.pods[uid] = PodState::kRunning;
  }
  void edit(const std::string& id, const std::function<void(model::AttachmentRecord&)>& change) {
    auto record = model::decode_record(node_.records.records.at(id)).value();
    change(record);
    node_.records.records[id] = model::encode_record(record);
  }
  // A daemon died while it plugged in `net7`.
  void plug_half(const std::string& id, model::Source source) {
    edit(id, [source](auto& record) {
      model::RecordedAttachment half = record.attachments[0];
      half.source = source;
      half.cni_name = "hot";
      half.config.set("name", "hot");
      half.ifname = "net7";
      half.result.reset();
      half.state = model::AttachmentState::kAdding;
      record.attachments.push_back(half);
    });
  }
  void lose_namespace(const std::string& id) {
    hide_namespace(id);
    leave_namespace(id);
  }
  // We do not see it; its processes are there.
  void hide_namespace(const std::string& id) { node_.links.namespaces.erase(cat("/", id)); }
  // The runtime was killed before it started a process there.
  void leave_namespace(const std::string& id) { around_.left.insert(cat("/", id)); }
  void end_pod(const std::string& uid) { around_.pods.erase(uid); }
  void round() {
    const auto done = aio::run(loop_, upkeep_.round());
    ASSERT_TRUE(done) << done.error().text();
  }
  void round_after_grace() {
    round();
    now_ += std::chrono::minutes(10);
    round();
  }
  std::vector<std::string> recorded() const {
    std::vector<std::string> ids;
    for (const auto& [id, record] : node_.records.records) ids.push_back(id);
    return ids;
  }

  std::uint64_t inode_ = 100;
  std::string sees_;  // the namespace that hot-plug sees to
  std::chrono::steady_clock::time_point now_;
  FakeUpkeepNode around_{node_, log_};
  Rule rule_{node_.records, node_.records, node_.links, "boot"};
  Settings settings_;
  Upkeep upkeep_{attachments_.typed(), rule_, around_, settings_, log_, [this] { return now_; }};
};

TEST_F(UpkeepTest, LeavesLivingContainersAlone) {
  add_container("c1", "u1");
  add_container("c2", "");

  round_after_grace();

  EXPECT_THAT(node_.calls, IsEmpty());
  EXPECT_EQ(upkeep_.gone(), 0u);
}

TEST_F(UpkeepTest, UndoesAnAddThatACrashCutOff) {
  add_container("c1", "u1");
  edit("c1", [](auto& record) { record.state = RecordState::kCreating; });
  node_.records.results.clear();

  round();

  EXPECT_THAT(node_.runs(), ElementsAre("DEL n-c1 eth0"));
  EXPECT_EQ(node_.plugins.runs[0].netns, "/c1");
  EXPECT_THAT(recorded(), IsEmpty());
  EXPECT_THAT(around_.counts, ElementsAre("finish done"));
  EXPECT_TRUE(
      logged("networks of container c1 of pod ns1/p were deleted: its ADD was not finished "
             "request=r7"));
}

// The last write of its record may have failed.
TEST_F(UpkeepTest, KeepsAnAddThatMayHaveBeenAnswered) {
  add_container("c1", "u1");
  edit("c1", [](auto& record) { record.state = RecordState::kCreating; });

  round_after_grace();

  EXPECT_THAT(node_.runs(), IsEmpty());
}

TEST_F(UpkeepTest, FinishesADelThatACrashCutOff) {
  add_container("c1", "u1");
  edit("c1", [](auto& record) { record.state = RecordState::kDeleting; });

  round();

  EXPECT_THAT(node_.runs(), ElementsAre("DEL n-c1 eth0"));
  EXPECT_THAT(recorded(), IsEmpty());
}

TEST_F(UpkeepTest, WhatFailsBecomesAPendingDel) {
  add_container("c1", "u1");
  edit("c1", [](auto& record) { record.state = RecordState::kDeleting; });
  node_.plugins.errors.emplace("DEL n-c1", Error(Errc::kPlugin, "no"));

  round();
  round();

  EXPECT_THAT(node_.pending.bodies, ElementsAre(std::pair("c1-eth0", "as recorded")));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL n-c1 eth0")) << "the replay tries again";
  EXPECT_THAT(around_.counts, ElementsAre("finish failed"));
  EXPECT_THAT(lines_->text(), testing::ContainsRegex("cannot finish container c1 .* request=r7\n"));
}

// Plugins may hang for minutes, one after the other, and authors of pods choose them.
TEST_F(UpkeepTest, PluginsThatHangKeepNoOtherNamespaceWaiting) {
  add_container("c1", "u1");
  add_container("c2", "u2");
  add_container("c3", "u3", "another");
  for (const char* id : {"c1", "c2", "c3"}) {
    edit(id, [](auto& record) { record.state = RecordState::kDeleting; });
  }
  auto hangs = node_.plugins.hold("DEL n-c1");
  aio::Group group(loop_.get_executor(), log_);
  group.spawn("upkeep", upkeep_.run());

  ASSERT_TRUE(aio::run(loop_, hangs->reached.wait()));
  loop_.restart();
  loop_.poll();

  EXPECT_THAT(recorded(), ElementsAre("c1", "c2"));
  // A later round neither waits for it nor begins anew what is not over.
  add_container("c4", "u4", "another");
  edit("c4", [](auto& record) { record.state = RecordState::kDeleting; });
  round();
  EXPECT_THAT(recorded(), ElementsAre("c1", "c2"));
  upkeep_.stop();
  hangs->release.set();
  ASSERT_TRUE(aio::run(loop_, group.join()));
  EXPECT_THAT(recorded(), ElementsAre("c2")) << "nothing begins after a stop";
}

TEST_F(UpkeepTest, DropsWhatAPersonGaveUp) {
  add_container("c1", "u1");
  edit("c1", [](auto& record) {
    record.state = RecordState::kDeleting;
    record.is_pending = true;
  });

  round();

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(recorded(), IsEmpty());
  EXPECT_THAT(node_.records.scratch, IsEmpty());
  EXPECT_THAT(node_.records.results, IsEmpty());
}

// Its pending DEL was damaged.
TEST_F(UpkeepTest, FinishesADelWhosePendingDelWasSetAside) {
  add_container("c1", "u1");
  edit("c1", [](auto& record) {
    record.state = RecordState::kDeleting;
    record.is_pending = true;
  });
  around_.set_aside = {"c1-eth0.json"};

  round();

  EXPECT_THAT(node_.runs(), ElementsAre("DEL n-c1 eth0"));
  EXPECT_THAT(recorded(), IsEmpty());
}

// The node changes from thin to thick while pods start.
TEST_F(UpkeepTest, LeavesAloneWhatAProcessOfThinMultusWorksOn) {
  add_container("c1", "u1");
  edit("c1", [](auto& record) { record.state = RecordState::kCreating; });
  node_.records.results.clear();
  add_container("c2", "u2");
  plug_half("c2", model::Source::kDelegateApi);
  add_container("c3", "u3");
  edit("c3", [](auto& record) {
    record.state = RecordState::kDeleting;
    record.is_pending = true;
  });
  around_.in_work = {"c1", "c2", "c3"};

  round();

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(recorded(), ElementsAre("c1", "c2", "c3"));
  around_.in_work = {};
  round();
  EXPECT_THAT(node_.runs(), ElementsAre("DEL n-c1 eth0", "DEL hot net7"));
}

TEST_F(UpkeepTest, DeletesNothingWhileTheBootIsNotKnown) {
  add_container("c1", "");
  attachments_.typed().core().options.boot_id.clear();
  Rule unsure(node_.records, node_.records, node_.links, "");
  Upkeep upkeep(attachments_.typed(), unsure, around_, settings_, log_, [this] { return now_; });

  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(aio::run(loop_, upkeep.round()));
    now_ += std::chrono::minutes(10);
  }

  EXPECT_THAT(node_.runs(), IsEmpty());
}

// Its DEL fails while the round runs.
TEST_F(UpkeepTest, KeepsTheRecordsOfADelThatIsPendingSince) {
  add_container("c1", "u1");
  edit("c1", [](auto& record) {
    record.state = RecordState::kDeleting;
    record.is_pending = true;
  });
  around_.on_pending_listed = [this] { node_.pending.bodies["c1-eth0"] = "body"; };

  round();

  EXPECT_THAT(recorded(), ElementsAre("c1"));
  EXPECT_THAT(node_.records.results, testing::SizeIs(1));
}

// A disk that fails: the record could not say that the ADD had ended, and a result cannot be read.
TEST_F(UpkeepTest, TakesAResultThatCannotBeReadForNoneThatIsMissing) {
  add_container("c1", "u1");
  edit("c1", [](auto& record) { record.state = RecordState::kCreating; });
  node_.records.result_errors.emplace("n-c1-c1-eth0", Error(Errc::kIo, "cannot read"));

  round();

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(recorded(), ElementsAre("c1"));
}

TEST_F(UpkeepTest, SaysWhatItWouldDoAndChangesNothing) {
  add_container("c1", "u1");
  edit("c1", [](auto& record) { record.state = RecordState::kDeleting; });

  const auto planned = aio::run(upkeep_.round_by_hand(Upkeep::Extent::kRehearsal));
  const bool is_there = node_.records.records.contains("c1");
  const auto done = aio::run(upkeep_.round_by_hand(Upkeep::Extent::kAll));

  ASSERT_TRUE(planned && done);
  ASSERT_EQ(planned->size(), 1u);
  EXPECT_EQ((*planned)[0].container_id, "c1");
  EXPECT_EQ((*planned)[0].action, Action::kFinish);
  EXPECT_TRUE(is_there);
  EXPECT_EQ(done->size(), 1u);
  EXPECT_FALSE(node_.records.records.contains("c1"));
}

// It was the oldest of them, and meanwhile its ADD has ended.
TEST_F(UpkeepTest, AsksAgainWhenItsTurnHasCome) {
  add_container("c1", "u1");
  edit("c1", [](auto& record) { record.state = RecordState::kDeleting; });
  around_.on_turn = [this] {
    edit("c1", [](auto& record) { record.state = RecordState::kReady; });
  };

  round();

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(around_.counts, IsEmpty());
}

// The same with a disk that fails: the record could not say that the ADD had ended.
TEST_F(UpkeepTest, KeepsAnAddThatWasAnsweredBeforeItsTurnHasCome) {
  add_container("c1", "u1");
  edit("c1", [](auto& record) { record.state = RecordState::kCreating; });
  const auto results = std::exchange(node_.records.results, {});
  around_.on_turn = [&] { node_.records.results = results; };

  round();

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(recorded(), ElementsAre("c1"));
}

// 05, 3.10
TEST_F(UpkeepTest, UndoesWhatWasBeingPluggedInOrOut) {
  add_container("c1", "u1");
  plug_half("c1", model::Source::kDelegateApi);

  round();

  EXPECT_THAT(node_.runs(), ElementsAre("DEL hot net7"));
  const auto record = model::decode_record(node_.records.records.at("c1"));
  EXPECT_EQ(record->find("net7"), nullptr);
  EXPECT_NE(record->find("eth0"), nullptr);
  EXPECT_EQ(record->state, RecordState::kReady);
}

// Hot-plug finishes what an edit of the annotation began, in the namespaces that it sees to.
TEST_F(UpkeepTest, LeavesToHotplugWhatHotplugSeesTo) {
  add_container("c1", "u1");
  plug_half("c1", model::Source::kAnnotation);
  attach::TextAttachments attachments(
      node_.ports(), log_,
      {.has_hotplug = true, .hotplugs_in = [this](std::string_view ns) { return ns == sees_; }});
  Upkeep upkeep(attachments.typed(), rule_, around_, settings_, log_, [this] { return now_; });

  sees_ = "ns1";
  ASSERT_TRUE(aio::run(loop_, upkeep.round()).has_value());
  EXPECT_THAT(node_.runs(), IsEmpty());
  sees_ = "another";
  ASSERT_TRUE(aio::run(loop_, upkeep.round()).has_value());

  EXPECT_THAT(node_.runs(), ElementsAre("DEL hot net7"));
}

// pain 8
TEST_F(UpkeepTest, DeletesAContainerWhoseNamespaceAndPodAreGone) {
  add_container("c1", "u1");
  add_container("c2", "u2");
  lose_namespace("c1");
  end_pod("u1");

  round();
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_EQ(upkeep_.gone(), 1u);
  now_ += std::chrono::minutes(9);
  round();
  EXPECT_THAT(node_.runs(), IsEmpty());
  now_ += std::chrono::minutes(1);
  round();

  EXPECT_THAT(node_.runs(), ElementsAre("DEL n-c1 eth0"));
  EXPECT_THAT(recorded(), ElementsAre("c2"));
  EXPECT_TRUE(logged("networks of container c1 of pod ns1/p were deleted: its pod is gone"));
}

TEST_F(UpkeepTest, CountsTheGraceAnewForANamespaceThatCameBack) {
  add_container("c1", "u1");
  end_pod("u1");
  lose_namespace("c1");
  round();
  now_ += std::chrono::minutes(9);
  node_.links.namespaces["/c1"];
  round();
  lose_namespace("c1");
  now_ += std::chrono::minutes(9);

  round();

  EXPECT_THAT(node_.runs(), IsEmpty());
}

// containerd died between ADD and saving: the kubelet makes another sandbox, and no DEL ever comes.
TEST_F(UpkeepTest, DeletesAContainerWhosePodLivesInAnother) {
  add_container("c1", "u1");
  add_container("c2", "u1");
  lose_namespace("c1");

  round_after_grace();

  EXPECT_THAT(node_.runs(), ElementsAre("DEL n-c1 eth0"));
  EXPECT_THAT(recorded(), ElementsAre("c2"));
}

// The same; and the runtime left the namespace, which no process was in yet.
TEST_F(UpkeepTest, DeletesAContainerThatWasLeftBehindWithItsNamespace) {
  add_container("c1", "u1");
  add_container("c2", "u1");
  add_container("c3", "u3");
  leave_namespace("c1");
  leave_namespace("c3");
  end_pod("u3");

  round();
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_EQ(upkeep_.gone(), 2u);
  round_after_grace();

  EXPECT_THAT(node_.runs(), ElementsAre("DEL n-c1 eth0", "DEL n-c3 eth0"));
  EXPECT_EQ(node_.plugins.runs[0].netns, "/c1");
  EXPECT_THAT(recorded(), ElementsAre("c2"));
}

// Another container of its pod was left behind, and is seen because it is older.
TEST_F(UpkeepTest, KeepsAContainerWhoseNamespaceHasProcessesAndIsNotSeen) {
  add_container("c1", "u1");
  add_container("c2", "u1");
  leave_namespace("c1");
  hide_namespace("c2");

  round_after_grace();

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(recorded(), ElementsAre("c1", "c2"));
}

// Without the host's processes in view, or with runtimes that keep them elsewhere, no namespace is
// taken for empty.
TEST_F(UpkeepTest, KeepsContainersWhoseProcessesCannotBeSeen) {
  add_container("c1", "u1");
  add_container("c2", "u1");
  add_container("c3", "u3");
  end_pod("u3");
  for (const char* id : {"c1", "c2", "c3"}) leave_namespace(id);
  round_after_grace();
  around_.left = {"/c1", "/c3"};
  around_.processes_error = Error(Errc::kDenied, "stat /proc/7/ns/net: permission denied");

  round_after_grace();

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_TRUE(upkeep_.sees_running_pods());
}

TEST_F(UpkeepTest, KeepsAContainerWhoseFirstProcessHasComeMeanwhile) {
  add_container("c1", "u1");
  add_container("c2", "u1");
  leave_namespace("c1");
  round();
  now_ += std::chrono::minutes(10);
  around_.on_turn = [this] { around_.left.clear(); };

  round();

  EXPECT_THAT(node_.runs(), IsEmpty());
}

TEST_F(UpkeepTest, DeletesNothingWhileThePodsAreNotKnown) {
  add_container("c1", "u1");
  lose_namespace("c1");
  end_pod("u1");
  around_.is_synced = false;

  round_after_grace();

  EXPECT_THAT(node_.runs(), IsEmpty());
}

TEST_F(UpkeepTest, DeletesNothingWhileNamespacesOfRunningPodsCannotBeSeen) {
  add_container("c1", "u1");
  add_container("c2", "u2");
  lose_namespace("c1");
  lose_namespace("c2");
  end_pod("u1");

  round_after_grace();

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_FALSE(upkeep_.sees_running_pods());
  EXPECT_TRUE(logged("the namespace /c2 of container c2 of pod ns1/p, which runs, cannot be seen"));
  node_.links.namespaces["/c2"];
  round();
  EXPECT_THAT(node_.runs(), ElementsAre("DEL n-c1 eth0"));
}

TEST_F(UpkeepTest, OnlyReportsWithoutTheHostsView) {
  add_container("c1", "u1");
  lose_namespace("c1");
  end_pod("u1");
  around_.sees = false;

  round_after_grace();

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_TRUE(logged("but its networks are not deleted: the host's namespaces cannot be seen"));
}

TEST_F(UpkeepTest, DeletesAContainerThatIsNotAPodOnlyAfterAReboot) {
  add_container("c1", "");
  lose_namespace("c1");
  round_after_grace();
  EXPECT_THAT(node_.runs(), IsEmpty());

  edit("c1", [](auto& record) { record.boot_id = "before"; });
  round_after_grace();

  EXPECT_THAT(node_.runs(), ElementsAre("DEL n-c1 eth0"));
}

// v4.3.0 forgets the cluster network of every deleted pod.
TEST_F(UpkeepTest, DeletesWhatTheOriginalLeftBehind) {
  add_container("c1", "u1");
  node_.records.records.clear();
  node_.records.scratch.clear();

  round_after_grace();
  EXPECT_THAT(node_.runs(), IsEmpty()) << "its namespace is there";
  end_pod("u1");
  round_after_grace();
  EXPECT_THAT(node_.runs(), IsEmpty()) << "its namespace is there";
  lose_namespace("c1");
  round_after_grace();

  EXPECT_THAT(node_.runs(), ElementsAre("DEL n-c1 eth0"));
  EXPECT_THAT(node_.records.results, IsEmpty());
}

// Whatever happens in whatever order, a container that lives keeps its networks, and in the end
// those of dead ones are gone. The world has pods, namespaces and time; the daemon may see less of
// them.
TEST_F(UpkeepTest, NeverTouchesALivingPodsNetwork) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::minstd_rand random(seed);
    const auto draw = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
    std::set<std::string> living;
    std::map<std::string, std::string> pod_of;
    for (unsigned step = 0; step < 40; ++step) {
      const std::string id = cat("c", seed, "-", draw(5));
      const std::string uid = cat("u", seed, "-", draw(3));
      switch (draw(8)) {
        case 0:  // the kubelet makes a sandbox, and its others of the pod are dead
          if (pod_of.contains(id) || node_.links.error) break;
          for (const auto& [other, others_uid] : pod_of) {
            if (others_uid != uid || !living.contains(other)) continue;
            draw(2) == 0 ? lose_namespace(other) : leave_namespace(other);
            living.erase(other);
          }
          add_container(id, uid);
          pod_of[id] = uid;
          living.insert(id);
          break;
        case 1:  // a pod goes, and no DEL comes
          for (const auto& [other, others_uid] : pod_of) {
            if (others_uid != uid) continue;
            draw(2) == 0 ? lose_namespace(other) : leave_namespace(other);
            living.erase(other);
          }
          end_pod(uid);
          break;
        case 2:  // the daemon's view is lost, of one or of all
          if (draw(2) == 0) {
            node_.links.error = Error(Errc::kNotFound, "not seen");
          } else if (pod_of.contains(id)) {
            hide_namespace(id);
          }
          break;
        case 3:  // and comes back
          node_.links.error.reset();
          for (const std::string& one : living) node_.links.namespaces[cat("/", one)];
          break;
        case 4:
          around_.is_synced = !around_.is_synced;
          break;
        case 5:
          around_.sees = !around_.sees;
          break;
        default:
          now_ += std::chrono::minutes(draw(15));
          break;
      }
      forget();
      round();
      for (const std::string& run : node_.runs()) {
        for (const std::string& one : living) {
          EXPECT_THAT(run, testing::Not(HasSubstr(cat("n-", one, " ")))) << "seed " << seed;
        }
      }
    }
    node_.links.error.reset();
    for (const std::string& one : living) node_.links.namespaces[cat("/", one)];
    around_.is_synced = around_.sees = true;
    const std::string witness = cat("w", seed);  // that processes can be seen
    add_container(witness, witness);
    living.insert(witness);
    pod_of[witness] = witness;
    for (const auto& [id, uid] : pod_of) {
      if (!living.contains(id) &&
          std::ranges::none_of(living, [&](const auto& one) { return pod_of.at(one) == uid; })) {
        end_pod(uid);
      }
    }
    round_after_grace();
    EXPECT_THAT(recorded(), testing::ElementsAreArray(living)) << "seed " << seed;
    // The next node.
    node_.records.records.clear();
    node_.records.scratch.clear();
    node_.records.results.clear();
    around_.pods.clear();
    around_.left.clear();
  }
}

}  // namespace
}  // namespace mnet::upkeep
