// A controller of hot-plug by annotation on a node in memory.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
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
#include "hotplug/controller.h"
#include "hotplug/pass.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/hotplug_settings.h"
#include "model/objects.h"

namespace mnet::hotplug {
inline constexpr const char* kDir = "/var/lib/cni/multus";

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
      auto waited =
          co_await event->wait(std::chrono::steady_clock::now() + std::chrono::milliseconds(1));
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
        ControllerTimes{.spread = std::chrono::milliseconds(0)}, [] { return 0.5; }, timer_);
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
      (void)loop_.run_one_for(std::chrono::milliseconds(20));  // the timer looks again and again
      (void)loop_.poll();
    }
  }
  void pass_time(std::chrono::milliseconds time) {
    timer_.advance(time);
    settle();
  }
  void edit(const std::string& text) {
    annotate(text);
    pass_time(std::chrono::milliseconds(150));
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

}  // namespace mnet::hotplug
