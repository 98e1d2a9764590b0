// Hot-plug by annotation on a node in memory.
#include "hotplug/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/event.h"
#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "aio/timer.h"
#include "attach/attach.h"
#include "attach/fake_ports.h"
#include "attach/node_fixture.h"
#include "attach/request.h"
#include "attach/request_text.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/fake_ports.h"
#include "cni/args.h"
#include "hotplug/hotplug_fixture.h"
#include "hotplug/pass.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/hotplug_settings.h"
#include "model/objects.h"

namespace mnet::hotplug {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr const char* kDir = "/var/lib/cni/multus";

// Time passes only when the test says so.
class ManualTimer final : public aio::Timer {
 public:
  aio::Deadline now() const override { return now_; }
  aio::Task<void> sleep_for(Duration time) override {
    aio::Event never;
    auto waited = co_await wait_for(&never, time);
    if (!waited && waited.error().code() == Errc::kTimeout) co_return Result<void>();
    co_return waited;
  }
  aio::Task<void> wait_for(aio::Event* event, Duration time) override {
    const auto until = now_ + time;
    while (now_ < until) {
      auto waited = co_await event->wait(std::chrono::steady_clock::now() + 1ms);
      if (waited || waited.error().code() != Errc::kTimeout) co_return waited;
    }
    co_return Error(Errc::kTimeout, "timed out");
  }
  void advance(Duration time) { now_ += time; }

 private:
  aio::Deadline now_ = std::chrono::steady_clock::now();
};

class FakeHotplugNode : public Node {
 public:
  FakeHotplugNode(attach::FakeNode& node, Log log) : node_(node), log_(std::move(log)) {}

  std::set<std::string> directories() const override { return {kDir}; }
  bool is_loaded() const override { return true; }
  Result<std::shared_ptr<void>> try_lock() override {
    if (is_locked) return std::shared_ptr<void>();
    return std::shared_ptr<void>(std::make_shared<int>(1));
  }
  model::PodObjectPtr find_pod(const std::string& ns, const std::string& name) const override {
    const auto found = node_.source.pods.find(cat(ns, "/", name));
    return found == node_.source.pods.end() ? nullptr : found->second;
  }
  Result<attach::Request> make_request(const std::string&,
                                       const model::AttachmentRecord& record) override {
    if (throws) throw std::runtime_error("a defect");
    if (settings_error) return *settings_error;
    attach::RequestText text;
    text.container_id = record.container_id;
    text.netns = record.netns;
    text.args = cni::args_text(record.cni_args);
    auto conf = attach::read_settings(json::parse_object(settings).value());
    return attach::read_request(attach::Verb::kAdd, attach::begin_text(text, log_), std::move(conf),
                                attach::parse_args(attach::Verb::kAdd, text.args));
  }
  aio::Task<std::shared_ptr<void>> take_turn(attach::Request) override {
    ++turns;
    if (std::exchange(is_dismissed, false)) co_return aio::cancelled_error();
    co_return std::make_shared<int>(1);
  }
  void observe(Op op, std::chrono::duration<double>) override { timed.push_back(op); }

  bool is_locked = false;     // by another process
  bool is_dismissed = false;  // the next turn, by a DEL of the container
  int turns = 0;
  std::vector<Op> timed;
  std::string settings = "{}";
  std::optional<Error> settings_error;
  bool throws = false;

 private:
  attach::FakeNode& node_;
  Log log_;
};

class HotplugController : public attach::NodeTest {
 protected:
  HotplugController() {
    for (const char* name : {"a", "b", "c"}) {
      node_.source.add_network(
          "ns1", name, cat(R"({"cniVersion":"1.0.0","name":")", name, R"(","type":"fake"})"));
    }
    annotate("");
    settings_.is_enabled = true;
  }
  ~HotplugController() override { end(); }

  // Another object, as the API sends it.
  void annotate(const std::string& text) {
    change([&](model::PodObject& pod) { pod.annotations["k8s.v1.cni.cncf.io/networks"] = text; });
  }
  void change(const std::function<void(model::PodObject&)>& edit) {
    const auto before = node_.source.pods["ns1/p1"];
    model::PodObject pod;
    if (before != nullptr) pod = *before;
    pod.ns = "ns1";
    pod.name = "p1";
    pod.uid = "u1";
    edit(pod);
    const auto now = std::make_shared<const model::PodObject>(std::move(pod));
    node_.source.pods["ns1/p1"] = now;
    if (controller_) controller_->pod_changed(before, now);
  }
  // The pod's ADD with its annotation of this moment.
  void create() {
    const auto added = aio::run(loop_, with_source_.add(request(delegates({"cluster"}))));
    ASSERT_TRUE(added.has_value()) << added.error().text();
    forget();
    node_.source.events.clear();
  }
  void start() {
    controller_.emplace(
        loop_.get_executor(), with_source_.typed(), hotplug_node_, settings_, log_,
        ControllerTimes{.spread = 0ms}, [] { return 0.5; }, timer_);
    group_.emplace(loop_.get_executor(), log_);
    group_->spawn("controller", controller_->run());
    settle();
  }
  void end() {
    if (!controller_) return;
    controller_->stop();
    (void)aio::run(loop_, group_->join());
    group_.reset();
    controller_.reset();
  }
  // Runs everything that does not wait for time to pass.
  void settle() {
    loop_.restart();
    for (int i = 0; i < 6; ++i) {
      (void)loop_.run_one_for(20ms);  // the timer looks again and again
      (void)loop_.poll();
    }
  }
  void pass_time(std::chrono::milliseconds time) {
    timer_.advance(time);
    settle();
  }
  void edit(const std::string& text) {
    annotate(text);
    pass_time(150ms);
  }
  model::AttachmentRecord record() {
    return model::decode_record(node_.records.records.at("c1")).value();
  }
  std::vector<std::string> attached() {
    std::vector<std::string> out;
    for (const auto& one : record().attachments) {
      if (one.state == model::AttachmentState::kAttached) {
        out.push_back(cat(one.ifname, " ", one.network));
      }
    }
    return out;
  }
  std::vector<std::string> status() {
    std::vector<std::string> out;
    const json::Value document = json::parse(node_.source.statuses["ns1/p1"]).value();
    for (const json::Value& entry : *document.as_array()) {
      out.push_back(cat(*entry.as_object()->find("name")->as_string(), " ",
                        *entry.as_object()->find("interface")->as_string()));
    }
    return out;
  }
  // Another pod that runs, with a container of its own.
  void add_pod(const std::string& container_id, const std::string& ns, const std::string& name) {
    auto another = record();
    another.container_id = container_id;
    another.pod_ns = ns;
    another.pod_name = name;
    another.pod_uid = name;
    another.netns = cat("/", container_id);
    another.cni_args = {{"K8S_POD_NAMESPACE", ns}, {"K8S_POD_NAME", name}, {"K8S_POD_UID", name}};
    node_.records.records[container_id] = model::encode_record(another);
    node_.links.namespaces[another.netns] = {"eth0"};
    auto pod = std::make_shared<model::PodObject>(*node_.source.pods["ns1/p1"]);
    pod->ns = ns;
    pod->name = name;
    pod->uid = name;
    node_.source.pods[pod->key()] = pod;
  }
  void annotate_pod(const std::string& key, const std::string& text) {
    const auto before = node_.source.pods.at(key);
    auto edited = std::make_shared<model::PodObject>(*before);
    edited->annotations["k8s.v1.cni.cncf.io/networks"] = text;
    node_.source.pods[key] = edited;
    controller_->pod_changed(before, edited);
  }
  // The first of two additions is under way when this ends.
  std::shared_ptr<chain::FakePlugins::Hold> add_two_and_hold() {
    create();
    start();
    auto hold = node_.plugins.hold("ADD a");
    edit("a@net1,b@net2");
    EXPECT_TRUE(hold->reached.is_set());
    return hold;
  }
  aio::Task<void> deleting_container() {
    MNET_CO_TRY([[maybe_unused]] const auto& done,
                co_await with_source_.del(request(delegates({"cluster"}))));
    co_return Result<void>();
  }
  // A network that needs a device of the resource.
  void add_device_network(const std::string& name, const std::string& resource) {
    node_.source.add_network("ns1", name,
                             cat(R"({"cniVersion":"1.0.0","name":")", name, R"(","type":"fake"})"),
                             resource);
  }
  // The device that the plugin was given in its last ADD of this network.
  std::string device_given(const std::string& network) {
    std::string given;
    for (std::size_t i = 0; i < node_.plugins.runs.size(); ++i) {
      const json::Object config = node_.plugins.config(i);
      if (node_.plugins.runs[i].command != "ADD") continue;
      if (chain::FakePlugins::text_in(config, "name") != network) continue;
      given = chain::FakePlugins::text_in(config, "deviceID");
    }
    return given;
  }
  std::size_t count_logged(std::string_view text) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        lines_->lines(), [&](const std::string& line) { return line.contains(text); }));
  }
  bool has_written_status() const {
    return std::ranges::find(node_.calls, "write status ns1/p1") != node_.calls.end();
  }

  attach::TextAttachments with_source_{
      node_.cluster_ports(), log_, {.boot_id = "boot1", .has_hotplug = true}};
  FakeHotplugNode hotplug_node_{node_, log_};
  ManualTimer timer_;
  model::HotplugSettings settings_;
  std::optional<aio::Group> group_;
  std::optional<Controller> controller_;
};

// 05, 4: rows 17 and 18
TEST_F(HotplugController, AttachesWhatAnEditNames) {
  create();
  start();

  edit("a@net1");

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
  EXPECT_THAT(attached(), ElementsAre("eth0 cluster", "net1 ns1/a"));
  EXPECT_THAT(status(), ElementsAre("cluster eth0", "ns1/a net1"));
  EXPECT_THAT(node_.source.events,
              ElementsAre("Normal AddedInterface: Add net1 [10.0.0.2/24] from ns1/a"));
  EXPECT_EQ(record().find("net1")->source, model::Source::kHotplug);
  EXPECT_NE(record().find("net1")->link_index, 0);
}

// 05, 4: rows 19 and 20
// The DEL may be refused, and the container live on.
TEST_F(HotplugController, TriesAgainWhatADelHasTakenTheTurnOf) {
  create();
  start();
  hotplug_node_.is_dismissed = true;

  edit("a@net1");
  EXPECT_THAT(node_.runs(), IsEmpty());
  pass_time(2s);

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
}

TEST_F(HotplugController, RemovesWhatIsNoLongerNamed) {
  annotate("a,b");
  create();
  start();

  edit("b");
  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1"));
  EXPECT_THAT(status(), ElementsAre("cluster eth0", "ns1/b net2"));
  EXPECT_THAT(node_.source.events, ElementsAre("Normal RemovedInterface: Remove net1 from ns1/a"));

  edit("");
  EXPECT_THAT(attached(), ElementsAre("eth0 cluster"));
  EXPECT_THAT(status(), ElementsAre("cluster eth0"));
}

// 05, 4: row 22
TEST_F(HotplugController, ReplacesTheNetworkBehindAName) {
  annotate("a@net1");
  create();
  start();

  edit("b@net1");

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1", "ADD b net1"));
  EXPECT_THAT(status(), ElementsAre("cluster eth0", "ns1/b net1"));
}

// 05, 4: row 51
TEST_F(HotplugController, RunsAndWritesNothingWhereNothingDiffers) {
  annotate("a,b@blue");
  create();
  start();
  end();
  forget();

  const int listings = node_.records.listings;

  start();
  pass_time(1s);

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_FALSE(has_written_status());
  EXPECT_THAT(node_.source.events, IsEmpty());
  EXPECT_EQ(node_.records.listings, listings) << "every container has a record";
}

// 05, 4: row 52
TEST_F(HotplugController, AppliesWhatWasEditedWhileNoDaemonRan) {
  annotate("a");
  create();
  annotate("a,b@blue");

  start();

  EXPECT_THAT(node_.runs(), ElementsAre("ADD b blue"));
}

// 05, 4: row 47
TEST_F(HotplugController, ComparesAContainerWhenItsAddHasEnded) {
  start();
  create();
  annotate("a@net1");

  controller_->container_changed(kDir, "c1");
  settle();

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
}

// 05, 4: row 21
TEST_F(HotplugController, ChangesNothingForAnAnnotationThatCannotBeRead) {
  annotate("a");
  create();
  start();

  edit("[{");
  edit("[{ ");
  edit("[{");

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.source.events, SizeIs(2));  // once for each text
  EXPECT_THAT(node_.source.events, Each(HasSubstr("Warning InvalidNetworksAnnotation")));
}

// 05, 4: row 31
TEST_F(HotplugController, ChangesNothingIfOneNameCannotBeThatOfAnInterface) {
  annotate("a");
  create();
  start();

  edit(R"([{"name":"b","interface":"sixteen-bytes-xx"},{"name":"c"}])");

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.source.events, ElementsAre(HasSubstr("Warning InvalidNetworksAnnotation")));
}

// 05, 4: row 28
TEST_F(HotplugController, TellsOfChangedAttributesOnceForEachValue) {
  annotate(R"([{"name":"a","interface":"net1"}])");
  create();
  start();

  edit(R"([{"name":"a","interface":"net1","ips":["10.0.0.7/24"]}])");
  edit(R"([{"name":"a","interface":"net1","ips":["10.0.0.7/24"]},{"name":"b"}])");
  EXPECT_THAT(node_.runs(), ElementsAre("ADD b net2"));
  EXPECT_THAT(node_.source.events, ElementsAre(HasSubstr("Warning InterfaceChangeIgnored: net1"),
                                               HasSubstr("AddedInterface")));

  edit(R"([{"name":"a","interface":"net1","ips":["10.0.0.8/24"]},{"name":"b"}])");
  EXPECT_THAT(node_.source.events, SizeIs(3));
  EXPECT_THAT(node_.runs(), SizeIs(1));
}

// 05, 4: row 28
TEST_F(HotplugController, AttachesAnewWhatHasOtherAttributesIfToldTo) {
  settings_.replaces_on_change = true;
  annotate(R"([{"name":"a"}])");
  create();
  start();

  edit(R"([{"name":"a","mac":"02:00:00:00:00:07"}])");

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1", "ADD a net1"));
  edit(R"([{"name":"a","mac":"02:00:00:00:00:07","interface":"net1"}])");
  EXPECT_THAT(node_.runs(), SizeIs(2));
}

// 05, 4: row 25
TEST_F(HotplugController, KeepsTheNamesThatItGaveOverARestart) {
  annotate("a");
  create();
  start();
  edit("a,b,c");
  EXPECT_THAT(attached(), ElementsAre("eth0 cluster", "net1 ns1/a", "net2 ns1/b", "net3 ns1/c"));
  end();
  forget();

  start();
  edit("c,b");

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1"));
  EXPECT_THAT(attached(), ElementsAre("eth0 cluster", "net2 ns1/b", "net3 ns1/c"));
}

// 05, 4: row 44
TEST_F(HotplugController, ShowsAllInterfacesOfAResultAndTakesAllOfThemAway) {
  create();
  start();
  node_.plugins.answers["ADD a"] =
      R"({"cniVersion":"1.0.0","interfaces":[{"name":"host"},{"name":"net1","sandbox":"/ns"},)"
      R"({"name":"net1b","sandbox":"/ns"}]})";

  edit("a@net1");
  EXPECT_THAT(status(), ElementsAre("cluster eth0", "ns1/a net1", "ns1/a net1b"));
  edit("b@net1b,a@net1");
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1")) << "the name is not free";
  edit("");

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1", "DEL a net1"));
  EXPECT_THAT(status(), ElementsAre("cluster eth0"));
}

// A server may be behind the one that an earlier daemon asked.
TEST_F(HotplugController, DetachesNothingThatTheNewestAnnotationNames) {
  annotate("a,b");
  create();
  node_.source.newest_pods["ns1/p1"] = node_.source.pods["ns1/p1"];
  annotate("a");

  start();
  EXPECT_THAT(node_.runs(), IsEmpty());

  node_.source.newest_pods.clear();
  edit("a");
  pass_time(601s);
  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net2"));
}

TEST_F(HotplugController, DetachesNothingAsLongAsTheNewestAnnotationCannotBeRead) {
  annotate("a");
  create();
  start();
  node_.source.newest_error = Error(Errc::kUnavailable, "503");

  edit("b@net1");
  EXPECT_THAT(node_.runs(), IsEmpty());

  node_.source.newest_error.reset();
  pass_time(2s);
  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1", "ADD b net1"));
}

// 05, 3.12. It writes what it had read before.
TEST_F(HotplugController, MendsTheStatusThatAClientHasWritten) {
  annotate("a@net1,b@net2");
  create();
  start();
  const std::string before = node_.source.statuses["ns1/p1"];
  controller_->client_called(kDir, "c1");
  settle();
  edit("b@net2,c@net3");
  ASSERT_THAT(status(), ElementsAre("cluster eth0", "ns1/b net2", "ns1/c net3"));
  node_.source.statuses["ns1/p1"] =
      cat(before.substr(0, before.rfind(']')), R"(,{"name":"ns1/x","interface":"hot0"}])");
  forget();

  pass_time(3s);
  EXPECT_FALSE(has_written_status());
  pass_time(3s);

  EXPECT_THAT(status(), ElementsAre("cluster eth0", "ns1/b net2", "ns1/x hot0", "ns1/c net3"));
  EXPECT_THAT(node_.runs(), IsEmpty());
  forget();
  pass_time(60s);
  EXPECT_FALSE(has_written_status());
}

TEST_F(HotplugController, MendsTheStatusAgainLaterIfItCannot) {
  annotate("a@net1");
  create();
  start();
  controller_->client_called(kDir, "c1");
  settle();
  node_.source.statuses["ns1/p1"] = "[]";
  node_.source.status_error = Error(Errc::kUnavailable, "500");
  pass_time(6s);

  node_.source.status_error.reset();
  pass_time(2s);

  EXPECT_THAT(status(), ElementsAre("ns1/a net1"));
}

// 05, 3.2. An older libcni did not record it.
TEST_F(HotplugController, SaysThatAContainerOfUnknownNamespaceCannotBeChanged) {
  annotate("a@net1");
  create();
  node_.records.records.clear();
  for (auto& [name, entry] : node_.records.results) entry.netns.clear();
  start();

  edit("b@net1");
  edit("c@net1");

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.source.events, SizeIs(2));  // none for what it found
  EXPECT_THAT(node_.source.events, Each(HasSubstr("Warning HotplugUnavailable")));
}

// 05, 4: rows 34 and 35
TEST_F(HotplugController, GoesOnBesideWhatFailsAndTriesThatAgainLater) {
  create();
  start();
  node_.plugins.errors.emplace("ADD b", Error(Errc::kPlugin, "no room"));

  edit("a@net1,b@net2,c@net3");

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1", "ADD b net2", "DEL b net2", "ADD c net3"));
  EXPECT_THAT(status(), ElementsAre("cluster eth0", "ns1/a net1", "ns1/c net3"));
  EXPECT_THAT(node_.source.events,
              Contains(HasSubstr("Warning FailedAddingInterface: Failed to add net2 from ns1/b")));
  EXPECT_EQ(controller_->counts().failing, 1);
  EXPECT_EQ(controller_->counts().present, 2);

  forget();
  for (const auto pause : {900ms, 1900ms, 3900ms}) {
    pass_time(pause);
    EXPECT_THAT(node_.runs(), IsEmpty()) << pause.count();
    pass_time(200ms);
    EXPECT_THAT(node_.runs(), ElementsAre("ADD b net2", "DEL b net2")) << pause.count();
    forget();
  }
  EXPECT_GE(controller_->oldest_difference(), 6s);

  node_.plugins.errors.clear();
  pass_time(9s);
  EXPECT_THAT(node_.runs(), ElementsAre("ADD b net2"));
  EXPECT_EQ(controller_->counts().failing, 0);
  EXPECT_EQ(controller_->oldest_difference(), 0s);
}

TEST_F(HotplugController, TellsOfTheSameFailureOnceInAWhile) {
  create();
  start();
  node_.plugins.errors.emplace("ADD a", Error(Errc::kPlugin, "no room"));
  edit("a@net1");
  for (int i = 0; i < 5; ++i) pass_time(20s);
  EXPECT_THAT(node_.source.events, SizeIs(1));
  pass_time(300s);
  EXPECT_THAT(node_.source.events, SizeIs(2));
}

// 05, 4: row 37
TEST_F(HotplugController, AttachesAsSoonAsTheDefinitionIsThere) {
  create();
  start();
  edit("late@net1");
  EXPECT_THAT(node_.runs(), IsEmpty());
  for (int i = 0; i < 6; ++i) pass_time(20s);

  node_.source.add_network("ns1", "late", R"({"cniVersion":"1.0.0","name":"l","type":"fake"})");
  controller_->network_changed("ns1/late");
  settle();

  EXPECT_THAT(node_.runs(), ElementsAre("ADD l net1"));
}

// 05, 4: row 38
TEST_F(HotplugController, RemovesWithTheRecordedConfiguration) {
  annotate("a");
  create();
  start();
  node_.source.networks.clear();

  edit("");

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1"));
}

TEST_F(HotplugController, DoesNotApplyAChangedDefinitionByItself) {
  annotate("a");
  create();
  start();

  node_.source.add_network("ns1", "a", R"({"cniVersion":"1.0.0","name":"other","type":"fake"})");
  controller_->network_changed("ns1/a");
  pass_time(1s);

  EXPECT_THAT(node_.runs(), IsEmpty());
}

// 05, 4: row 36
TEST_F(HotplugController, LeavesALinkAloneThatIsThere) {
  create();
  start();
  node_.links.namespaces["/ns"].insert("net1");

  edit("a@net1");

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.source.events, Contains(HasSubstr("FailedAddingInterface")));
}

TEST_F(HotplugController, TriesAFailedRemovalAgainAndForgetsNothing) {
  annotate("a");
  create();
  start();
  node_.plugins.errors.emplace("DEL a", Error(Errc::kPlugin, "busy"));

  edit("");
  EXPECT_THAT(node_.source.events, Contains(HasSubstr("Warning FailedRemovingInterface")));
  EXPECT_EQ(record().find("net1")->state, model::AttachmentState::kRemoving);
  node_.plugins.errors.clear();
  pass_time(2s);

  EXPECT_EQ(record().find("net1"), nullptr);
  EXPECT_THAT(status(), ElementsAre("cluster eth0"));
}

TEST_F(HotplugController, DeletesALinkThatWasRenamed) {  // kubevirt#14074
  annotate("a@net1");
  create();
  start();
  node_.links.rename_now("/ns", "net1", "virt");
  node_.links.namespaces["/ns"].insert("net1");  // another one under its name

  edit("");

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1", "DEL a net1"));
  EXPECT_THAT(node_.links.namespaces["/ns"], Not(Contains("virt")));
  EXPECT_THAT(node_.links.namespaces["/ns"], Not(Contains("net1")));
}

// Some plugins cannot do without it.
TEST_F(HotplugController, DeletesARenamedLinkThatItsPluginMisses) {
  annotate("a@net1");
  create();
  start();
  node_.links.rename_now("/ns", "net1", "virt");
  node_.plugins.on_run = [this](const chain::PluginRun& run) {
    node_.plugins.errors.clear();
    if (node_.links.namespaces["/ns"].contains(run.ifname)) return;
    node_.plugins.errors.emplace("DEL a", Error(Errc::kPlugin, "no link net1"));
  };

  edit("");

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1", "DEL a net1"));
  EXPECT_EQ(record().find("net1"), nullptr);
  EXPECT_THAT(node_.links.namespaces["/ns"], ElementsAre("eth0"));
  EXPECT_THAT(node_.source.events, Each(Not(HasSubstr("Warning"))));
}

TEST_F(HotplugController, NeverForgetsALinkThatSurvives) {
  annotate("a@net1");
  create();
  start();
  node_.links.rename_now("/ns", "net1", "virt");
  node_.plugins.answers["DEL a"] = "";  // and deletes nothing

  edit("");

  EXPECT_THAT(node_.source.events, Contains(HasSubstr("survived two DELs")));
  EXPECT_EQ(record().find("net1")->state, model::AttachmentState::kRemoving);
}

// 05, 4: row 42
TEST_F(HotplugController, WritesAStatusThatCouldNotBeWrittenLater) {
  create();
  start();
  node_.source.status_error = Error(Errc::kUnavailable, "500");

  edit("a@net1");
  EXPECT_THAT(status(), ElementsAre("cluster eth0"));
  EXPECT_TRUE(record().status_behind);
  node_.source.status_error.reset();
  pass_time(2s);

  EXPECT_THAT(status(), ElementsAre("cluster eth0", "ns1/a net1"));
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
  EXPECT_FALSE(record().status_behind);
}

// 05, 4: row 43
TEST_F(HotplugController, LeavesEntriesOfOthersInTheStatus) {
  annotate("a@net1");
  create();
  start();
  node_.source.statuses["ns1/p1"] =
      R"([{"name":"cluster","interface":"eth0","default":true},{"name":"x","interface":"y"},)"
      R"({"name":"ns1/a","interface":"net1"}])";

  edit("b@net2");

  EXPECT_THAT(status(), ElementsAre("cluster eth0", "x y", "ns1/b net2"));
}

// 05, 4: row 45
TEST_F(HotplugController, StartsNothingForPodsThatEnd) {
  create();
  start();
  change([](model::PodObject& pod) { pod.is_being_deleted = true; });
  edit("a@net1");
  EXPECT_THAT(node_.runs(), IsEmpty());

  change([](model::PodObject& pod) {
    pod.is_being_deleted = false;
    pod.phase = model::PodPhase::kEnded;
  });
  edit("b@net1");
  EXPECT_THAT(node_.runs(), IsEmpty());

  change([](model::PodObject& pod) { pod.phase = model::PodPhase::kPending; });
  edit("c@net1");
  EXPECT_THAT(node_.runs(), ElementsAre("ADD c net1"));
}

// 05, 4: row 30
TEST_F(HotplugController, TellsPodsOfTheHostsNetworkOnceForEachAnnotation) {
  start();
  change([](model::PodObject& pod) { pod.is_in_host_network = true; });
  annotate("a");
  for (int i = 0; i < 5; ++i) annotate("a");

  EXPECT_THAT(node_.source.events, SizeIs(1));
  EXPECT_THAT(node_.runs(), IsEmpty());
}

TEST_F(HotplugController, IgnoresPodsOfNamespacesThatAreNotNamed) {
  settings_.namespaces = std::vector<std::string>{"other"};
  create();
  start();

  edit("a@net1");
  change([](model::PodObject& pod) { pod.is_in_host_network = true; });
  edit("b@net1");

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.source.events, IsEmpty());
}

// 05, 4: rows 49 and 50
TEST_F(HotplugController, FinishesWhatAKilledDaemonLeftHalfDone) {
  annotate("a@net1,b@net2");
  create();
  auto half = record();
  half.find("net1")->state = model::AttachmentState::kAdding;
  half.find("net1")->source = model::Source::kHotplug;
  half.find("net2")->state = model::AttachmentState::kRemoving;
  node_.records.records["c1"] = model::encode_record(half);
  annotate("a@net1");

  start();

  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net2", "DEL a net1", "ADD a net1"));
  EXPECT_THAT(status(), ElementsAre("cluster eth0", "ns1/a net1"));
}

// 05, 4: row 53
TEST_F(HotplugController, AddsNothingToContainersOfAnotherBoot) {
  create();
  auto old = record();
  old.boot_id = "boot0";
  node_.records.records["c1"] = model::encode_record(old);
  annotate("a@net1");

  start();

  EXPECT_THAT(node_.runs(), IsEmpty());
}

// 05, 4: row 54
TEST_F(HotplugController, AddsNothingWhereTheNamespaceIsGoneOrAnother) {
  create();
  start();
  node_.links.inodes["/ns"] = 77;
  auto known = record();
  known.netns_inode = 5;
  node_.records.records["c1"] = model::encode_record(known);
  edit("a@net1");
  node_.links.namespaces.clear();
  edit("b@net1");

  EXPECT_THAT(node_.runs(), IsEmpty());
}

// 05, 4: row 55
TEST_F(HotplugController, CountsTheNewestLivingContainerOfAPod) {
  create();
  auto second = record();
  second.container_id = "c2";
  second.netns = "/ns2";
  second.attachments.front().added_at = "9999-01-01T00:00:00Z";
  node_.records.records["c2"] = model::encode_record(second);
  node_.links.namespaces["/ns2"] = {"eth0"};
  start();

  edit("a@net1");
  EXPECT_THAT(node_.links.namespaces["/ns2"], Contains("net1"));
  EXPECT_THAT(node_.links.namespaces["/ns"], Not(Contains("net1")));

  node_.links.namespaces.erase("/ns2");
  edit("a@net1,b@net2");
  EXPECT_THAT(node_.links.namespaces["/ns"], Contains("net2"));
}

// 05, 4: row 56
TEST_F(HotplugController, FindsStaticPodsByName) {
  create();
  auto known = record();
  known.is_static = true;
  known.pod_uid = "of-the-kubelet";
  known.cni_args = {{"K8S_POD_NAMESPACE", "ns1"}, {"K8S_POD_NAME", "p1"}};
  node_.records.records["c1"] = model::encode_record(known);
  change([](model::PodObject& pod) { pod.is_static = true; });
  start();

  edit("a@net1");

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
}

// 05, 4: row 57
TEST_F(HotplugController, MakesUpTheRecordOfWhatAnotherMultusMade) {
  annotate("a@net1");
  create();
  node_.records.records.clear();

  start();
  edit("");

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1"));
}

// 05, 4: row 57
TEST_F(HotplugController, LeavesTheNodesNetworksAloneWhenItMakesUpARecord) {
  annotate("a@net9");
  const auto added = aio::run(loop_, with_source_.add(request(delegates({"cluster", "b"}))));
  ASSERT_TRUE(added.has_value()) << added.error().text();
  forget();
  node_.records.records.clear();
  start();

  edit("");

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net9"));
  EXPECT_THAT(attached(), ElementsAre("eth0 cluster", "net1 b"));
}

// The scratch file and the result cache do not say what the pod asked for in words.
TEST_F(HotplugController, TakesTheAttributesOfAMadeUpRecordForThoseOfTheAnnotation) {
  settings_.replaces_on_change = true;
  const std::string wished =
      R"([{"name":"a","interface":"net1","cni-args":{"x":"y"},"bandwidth":{"ingressRate":9000}}])";
  annotate(wished);
  create();
  node_.records.records.clear();
  start();
  pass_time(1s);
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.source.events, IsEmpty());

  edit(
      R"([{"name":"a","interface":"net1","cni-args":{"x":"z"},"bandwidth":{"ingressRate":9000}}])");
  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1", "ADD a net1"));
}

// 05, 4: row 58
TEST_F(HotplugController, MakesUpADamagedRecordAndRunsNothingForIt) {
  annotate("a@net1,b@net2");
  create();
  node_.records.damaged_records.insert("c1");

  start();
  pass_time(1s);
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_TRUE(logged("damaged record"));

  edit("b@net2");
  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1"));
}

// 05, 4: row 58. An error says nothing about the record, least of all that there is none.
TEST_F(HotplugController, RunsNothingAsLongAsARecordCannotBeRead) {
  annotate("a@net1");
  create();
  annotate("b@net1");
  node_.records.find_record_error = Error::from_errno(EIO, "read c1.json");

  start();
  for (const auto pause : {1100ms, 2100ms, 4100ms}) pass_time(pause);
  edit("c@net1");
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_FALSE(has_written_status());
  const auto told = count_logged("container c1 cannot be compared with its pod");
  EXPECT_GE(told, 4);  // backs off: 1 s, 2 s, 4 s
  EXPECT_LE(told, 5);

  node_.records.find_record_error.reset();
  pass_time(10s);
  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1", "ADD c net1"));
}

TEST_F(HotplugController, ReadsTheRecordOfANewContainerAgainIfItCouldNot) {
  start();
  create();
  annotate("a@net1");
  node_.records.find_record_error = Error::from_errno(EMFILE, "open c1.json");
  controller_->container_changed(kDir, "c1");
  settle();
  EXPECT_THAT(node_.runs(), IsEmpty());

  node_.records.find_record_error.reset();
  pass_time(2s);

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
}

// Not only at the next comparison of all pods, which may be turned off.
TEST_F(HotplugController, ListsRecordsAgainSoonWhereItCouldNot) {
  settings_.resync = 0ms;
  create();
  node_.records.records.clear();
  annotate("a@net1");
  node_.records.list_error = Error::from_errno(EMFILE, "open results");
  start();
  for (const auto pause : {1100ms, 2100ms, 4100ms}) pass_time(pause);
  EXPECT_THAT(node_.runs(), IsEmpty());
  const auto told = count_logged("cannot list the records below");
  EXPECT_GE(told, 3);  // backs off: 1 s, 2 s, 4 s
  EXPECT_LE(told, 4);

  node_.records.list_error.reset();
  pass_time(10s);

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
}

// Another multus made it: nothing but the result cache knows of it.
TEST_F(HotplugController, ForgetsNoContainerWhoseResultsCannotBeRead) {
  settings_.resync = 0ms;
  annotate("a@net1");
  create();
  node_.records.records.clear();
  for (const auto& [name, entry] : node_.records.results) {
    node_.records.result_errors.emplace(name, Error::from_errno(EIO, cat("read ", name)));
  }
  start();
  pass_time(1100ms);
  edit("a@net1,b@net2");
  EXPECT_THAT(node_.runs(), IsEmpty());

  node_.records.result_errors.clear();
  pass_time(10s);

  EXPECT_THAT(node_.runs(), ElementsAre("ADD b net2"));
}

TEST_F(HotplugController, GivesAWorkerBackWhateverBecomesOfItsPass) {
  settings_.workers = 1;
  create();
  start();
  hotplug_node_.throws = true;
  edit("a@net1");
  EXPECT_THAT(node_.runs(), IsEmpty());

  hotplug_node_.throws = false;
  pass_time(2s);

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
}

TEST_F(HotplugController, TriesAgainWhereTheNamespaceCouldNotBeLookedAt) {
  create();
  start();
  node_.links.error = Error::from_errno(EMFILE, "open /ns");
  edit("a@net1");
  EXPECT_THAT(node_.runs(), IsEmpty());

  node_.links.error.reset();
  pass_time(2s);

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
}

TEST_F(HotplugController, ForgetsNoLinkThatItCannotLookFor) {
  annotate("a@net1");
  create();
  start();
  node_.links.rename_now("/ns", "net1", "virt");
  node_.plugins.on_run = [this](const auto&) {
    node_.links.error = Error::from_errno(ENOBUFS, "netlink");
  };
  edit("");
  EXPECT_EQ(record().find("net1")->state, model::AttachmentState::kRemoving);

  node_.plugins.on_run = nullptr;
  node_.links.error.reset();
  pass_time(2s);

  EXPECT_EQ(record().find("net1"), nullptr);
  EXPECT_THAT(node_.links.namespaces["/ns"], Not(Contains("virt")));
}

TEST_F(HotplugController, RunsNothingWithoutTheNodesConfiguration) {
  create();
  start();
  hotplug_node_.settings_error = Error::from_errno(EMFILE, "open 00-multus.conf");
  edit("a@net1");
  EXPECT_THAT(node_.runs(), IsEmpty());

  hotplug_node_.settings_error.reset();
  pass_time(2s);

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
}

// As many hang as there are workers, and they become due again before the others.
TEST_F(HotplugController, StartsWithWhatHasBeenDueForTheLongestTime) {
  settings_.workers = 1;
  create();
  add_pod("c0", "ns1", "p0");  // comes first in any list
  start();
  const auto hold = node_.plugins.hold("ADD a");
  edit("a@net1");
  ASSERT_TRUE(hold->reached.is_set());

  const auto before = node_.source.pods["ns1/p0"];
  auto edited = std::make_shared<model::PodObject>(*before);
  edited->annotations["k8s.v1.cni.cncf.io/networks"] = "b@net1";
  annotate("a@net1,c@net2");  // due first
  timer_.advance(10ms);
  node_.source.pods["ns1/p0"] = edited;
  controller_->pod_changed(before, edited);
  pass_time(150ms);
  EXPECT_EQ(controller_->counts().pending, 2);
  EXPECT_GE(controller_->oldest_difference(), 0s);
  hold->release.set();
  settle();
  settle();

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1", "ADD c net2", "ADD b net1"));
}

// A tenant's plugins that hang leave a worker to others.
TEST_F(HotplugController, LeavesAWorkerToNamespacesThatHaveNone) {
  settings_.workers = 2;
  node_.source.add_network("ns2", "b", R"({"cniVersion":"1.0.0","name":"b","type":"fake"})");
  create();
  add_pod("c2", "ns1", "p2");
  add_pod("c3", "ns2", "p3");
  start();
  const auto hold = node_.plugins.hold("ADD a");
  annotate("a@net1");
  annotate_pod("ns1/p2", "c@net1");
  pass_time(150ms);
  ASSERT_TRUE(hold->reached.is_set());
  EXPECT_THAT(node_.runs(), IsEmpty());  // those that have ended

  annotate_pod("ns2/p3", "b@net1");
  pass_time(150ms);

  EXPECT_THAT(node_.runs(), ElementsAre("ADD b net1"));
  hold->release.set();
  settle();
  EXPECT_THAT(node_.runs(), ElementsAre("ADD b net1", "ADD a net1", "ADD c net1"));
}

// What takes long continues after others had their turn; that still belongs to the same edit.
TEST_F(HotplugController, EndsAPassThatTakesLongAndGoesOnInAnother) {
  const auto hold = add_two_and_hold();
  const int turns = hotplug_node_.turns;

  pass_time(11s);
  hold->release.set();
  settle();

  EXPECT_EQ(hotplug_node_.turns, turns + 1);
  EXPECT_THAT(attached(), ElementsAre("eth0 cluster", "net1 ns1/a", "net2 ns1/b"));
  EXPECT_THAT(status(), ElementsAre("cluster eth0", "ns1/a net1", "ns1/b net2"));
}

TEST_F(HotplugController, ReadsSoMuchForAPassAndNotForEachNetwork) {
  create();
  start();
  node_.source.limits.clear();

  edit("a@net1,b@net2,c@net3");

  EXPECT_THAT(node_.source.limits, SizeIs(1));
}

// Of a pod with a thousand names that do not exist.
TEST_F(HotplugController, RemembersOnlySoManyFailuresOneByOne) {
  create();
  start();
  std::string names;
  for (int i = 0; i < 150; ++i) names += cat(i == 0 ? "" : ",", "none", i, "@x", i);

  edit(cat(names, ",a@net1"));

  EXPECT_THAT(attached(), Contains("net1 ns1/a"));
  EXPECT_THAT(node_.source.events, SizeIs(testing::Le(101u)));
  EXPECT_EQ(controller_->counts().failing, 150u);
  node_.source.add_network("ns1", "none149", R"({"cniVersion":"1.0.0","name":"z","type":"fake"})");
  pass_time(400s);
  pass_time(400s);
  EXPECT_THAT(attached(), Contains("x149 ns1/none149"));
}

TEST_F(HotplugController, ForgetsAContainerThatIsNotRecordedAnyMore) {
  annotate("a@net1");
  create();
  start();
  EXPECT_EQ(controller_->counts().wanted, 1);

  node_.records.records.clear();
  node_.records.scratch.clear();
  node_.records.results.clear();
  pass_time(601s);

  EXPECT_EQ(controller_->counts().wanted, 0);
  EXPECT_THAT(node_.runs(), IsEmpty());
}

TEST_F(HotplugController, TimesWhatRanPlugins) {
  create();
  start();
  edit("a@net1,b@eth0");
  edit("");

  EXPECT_THAT(hotplug_node_.timed, ElementsAre(Op::kAdd, Op::kRemove));
}

TEST_F(HotplugController, NeverActsBesideAnotherProcess) {
  create();
  hotplug_node_.is_locked = true;
  start();
  annotate("a@net1");
  pass_time(10s);
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_EQ(count_logged("hot-plug waits for another daemon of this node"), 1);

  hotplug_node_.is_locked = false;
  pass_time(1s);
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
}

// 05, 4: row 66
TEST_F(HotplugController, StartsNothingOnceItWasStopped) {
  const auto hold = add_two_and_hold();

  controller_->stop();
  hold->release.set();
  (void)aio::run(loop_, group_->join());

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
}

// 05, 4: row 46
TEST_F(HotplugController, GivesWayToADelOfTheContainer) {
  const auto hold = add_two_and_hold();

  aio::Group group(loop_.get_executor(), log_);
  group.spawn("DEL", deleting_container());
  settle();
  hold->release.set();
  ASSERT_TRUE(aio::run(loop_, group.join()).has_value());

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1", "DEL a net1", "DEL cluster eth0"));
  EXPECT_FALSE(node_.records.records.contains("c1"));
}

// 05, 4: row 46
TEST_F(HotplugController, EndsAPluginThatADelOfTheContainerHasWaitedForLongEnough) {
  (void)add_two_and_hold();

  aio::Group group(loop_.get_executor(), log_);
  group.spawn("DEL", deleting_container());
  settle();
  pass_time(29s);
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_EQ(group.size(), 1);
  pass_time(2s);
  ASSERT_TRUE(aio::run(loop_, group.join()).has_value());

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1", "DEL cluster eth0"));
  EXPECT_FALSE(node_.records.records.contains("c1"));
  EXPECT_THAT(node_.links.namespaces["/ns"], IsEmpty());
}

// 05, 4: row 65
TEST_F(HotplugController, AppliesEditsThatComeFastTogether) {
  create();
  start();
  for (int i = 0; i < 50; ++i) {
    annotate(i % 2 == 0 ? "a@net1" : "b@net1");
    pass_time(2ms);
  }
  pass_time(1s);

  EXPECT_LE(hotplug_node_.turns, 4);
  EXPECT_THAT(attached(), ElementsAre("eth0 cluster", "net1 ns1/b"));
}

TEST_F(HotplugController, DampsAPodThatFlaps) {
  create();
  start();
  for (int i = 0; i < 60; ++i) edit(i % 2 == 0 ? "a@net1" : "");
  const auto runs = node_.runs().size();
  EXPECT_LE(runs, 21);

  edit("a@net1,b@net2");
  for (int i = 0; i < 4; ++i) pass_time(16s);

  EXPECT_THAT(attached(), ElementsAre("eth0 cluster", "net1 ns1/a", "net2 ns1/b"));
}

// 05, 4: rows 63 and 64
TEST_F(HotplugController, LeavesClientsAttachmentsAloneUntilAnElementNamesThem) {
  create();
  auto known = record();
  model::RecordedAttachment client = known.attachments.front();
  client.source = model::Source::kDelegateApi;
  client.network = client.cni_name = "a";
  client.ifname = "net1";
  client.result =
      json::parse(R"({"cniVersion":"1.0.0","interfaces":[{"name":"net1","sandbox":"/ns"}]})")
          .value();
  known.attachments.push_back(client);
  node_.records.records["c1"] = model::encode_record(known);
  start();

  edit("b@net2");
  edit("");
  EXPECT_NE(record().find("net1"), nullptr);

  edit("a@net1");
  EXPECT_EQ(record().find("net1")->source, model::Source::kHotplug);
  edit("c@net3,a@net1");  // it is the pod's own from now on
  EXPECT_THAT(node_.runs(), ElementsAre("ADD b net2", "DEL b net2", "ADD c net3"));
  EXPECT_THAT(attached(), ElementsAre("eth0 cluster", "net1 ns1/a", "net3 ns1/c"));
  EXPECT_THAT(status(), ElementsAre("cluster eth0", "ns1/a net1", "ns1/c net3"));

  edit("");
  EXPECT_EQ(record().find("net1"), nullptr);
}

// 05, 4: row 32
TEST_F(HotplugController, ChecksNamespaceIsolation) {
  hotplug_node_.settings = R"({"namespaceIsolation":true})";
  node_.source.add_network("other", "x", R"({"cniVersion":"1.0.0","name":"x","type":"fake"})");
  create();
  start();

  edit("other/x@net1,a@net2");

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net2"));
  EXPECT_THAT(node_.source.events,
              Contains(HasSubstr("Warning InterfaceAddRejected: Will not add")));
}

// 05, 4: row 40
TEST_F(HotplugController, GivesADeviceThatNoOtherNetworkHas) {
  node_.devices.ids = {{"r", {"d1", "d2"}}};
  for (const char* name : {"v", "w", "x"}) add_device_network(name, "r");
  annotate("v@net1");
  create();
  start();

  edit("v@net1,w@net2,x@net3");

  EXPECT_THAT(node_.runs(), ElementsAre("ADD w net2"));
  EXPECT_EQ(device_given("w"), "d2");
  EXPECT_EQ(record().find("net2")->device_id, "d2");
  EXPECT_EQ(record().find("net3"), nullptr);
  EXPECT_THAT(
      node_.source.events,
      ElementsAre(HasSubstr("AddedInterface"),
                  HasSubstr("Warning InterfaceAddRejected: Failed to add net3 from ns1/x")));
}

// 05, 4: row 40
TEST_F(HotplugController, GivesTheDeviceOfWhatGoesToWhatComes) {
  node_.devices.ids = {{"r", {"d1"}}};
  for (const char* name : {"v", "w"}) add_device_network(name, "r");
  annotate("v@net1");
  create();
  start();

  edit("w@net1");

  EXPECT_THAT(node_.runs(), ElementsAre("DEL v net1", "ADD w net1"));
  EXPECT_EQ(device_given("w"), "d1");
  EXPECT_THAT(node_.source.events, Each(Not(HasSubstr("Warning"))));
}

// 05, 4: row 40
TEST_F(HotplugController, NeedsNoDeviceOfAResourceThatIsNone) {
  add_device_network("marked", "bridge.network.kubevirt.io/br1");
  create();
  start();

  edit("marked@net1");

  EXPECT_THAT(node_.runs(), ElementsAre("ADD marked net1"));
  EXPECT_EQ(device_given("marked"), "");
  EXPECT_EQ(record().find("net1")->device_id, "");
}

// Once, as every failure that repeats itself, and not by the search for the device, too.
TEST_F(HotplugController, TellsOnceOfADeviceThatIsNotThePodsToChoose) {
  create();
  start();

  edit(R"([{"name":"a","interface":"net1","deviceID":"0000:05:00.1"}])");
  for (const auto pause : {1100ms, 2100ms, 4100ms}) pass_time(pause);

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.source.events, ElementsAre(HasSubstr("Warning InterfaceAddRejected: Failed to "
                                                         "add net1 from ns1/a")));
}

// 05, 4: row 39
TEST_F(HotplugController, AttachesANetworkOfAFile) {
  auto network = std::make_shared<model::NetworkDefinition>();
  network->ns = "ns1";
  network->name = "f";
  node_.source.networks["ns1/f"] = network;
  node_.networks.named["f"] = R"({"cniVersion":"1.0.0","name":"f","type":"fake"})";
  create();
  start();

  edit("f@net1");

  EXPECT_THAT(node_.runs(), ElementsAre("ADD f net1"));
}

TEST_F(HotplugController, RefusesClientsWhatTheNodeGivesToEveryPod) {  // R11
  create();
  auto known = record();
  known.attachments.push_back(known.attachments.front());
  known.attachments.back().source = model::Source::kDefaultNetworks;
  known.attachments.back().ifname = "net1";
  node_.records.records["c1"] = model::encode_record(known);
  RequestText what;
  what.request = request("");
  what.request.ifname = "net1";
  what.request.config = R"({"cniVersion":"1.0.0","name":"cluster","type":"fake"})";
  TextHotplug clients(with_source_, log_);

  const auto refused = aio::run(loop_, clients.del(what));

  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().text(), HasSubstr("gives to every pod"));
  EXPECT_THAT(node_.runs(), IsEmpty());
}

}  // namespace
}  // namespace mnet::hotplug
