// Nodes with a cluster behind them, pods with annotations and networks by definition: for whole
// requests, and for their resolution alone.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "attach/core.h"
#include "attach/fake_ports.h"
#include "attach/node_fixture.h"
#include "attach/resolve.h"
#include "base/test_log.h"
#include "base/try.h"
#include "model/attachment_record.h"

namespace mnet::attach {

class PodTest : public NodeTest {
 protected:
  // The pod `ns1/p1`, which wants these networks.
  void add_pod(const std::string& networks) {
    std::map<std::string, std::string, std::less<>> annotations;
    if (!networks.empty()) annotations["k8s.v1.cni.cncf.io/networks"] = networks;
    node_.source.add_pod("ns1", "p1", std::move(annotations));
  }
  void define(const std::string& name, const std::string& type = "bridge",
              const std::string& more = {}) {
    node_.source.add_network(
        "ns1", name,
        cat(R"({"cniVersion":"1.0.0","name":")", name, R"(","type":")", type, "\"", more, "}"));
  }

  Result<cni::NetResult> add(RequestText request) {
    return aio::run(loop_, pods_.add(std::move(request)));
  }
  aio::Task<void> adding(RequestText request) {
    MNET_CO_TRY([[maybe_unused]] const auto& added, co_await pods_.add(std::move(request)));
    co_return Result<void>();
  }
  Result<void> del(RequestText request) {
    return told(aio::run(loop_, pods_.del(std::move(request))));
  }
  Result<void> check(RequestText request) {
    return aio::run(loop_, pods_.check(std::move(request)));
  }

  model::AttachmentRecord record() {
    const auto found = node_.records.records.find("c1");
    if (found == node_.records.records.end()) return {};
    return model::decode_record(found->second).value_or(model::AttachmentRecord());
  }
  std::string status() { return node_.source.statuses["ns1/p1"]; }

  TextAttachments pods_{node_.cluster_ports(),
                        log_,
                        {.readiness_wait = std::chrono::milliseconds(20),
                         .readiness_poll = std::chrono::milliseconds(1),
                         .boot_id = "boot-1"}};
};

// A node in memory and one pod, whose networks are resolved.
class ResolverTest : public testing::Test {
 protected:
  using Annotations = std::map<std::string, std::string, std::less<>>;

  ResolverTest() {
    node_.networks.configs["/n/c.conf"] = R"({"name":"c","type":"fake"})";
    node_.source.add_pod("ns1", "p1", {});
  }

  // `members` are the inside of the netconf's object.
  static std::string path_and(const std::string& members) {
    return cat(R"("clusterNetwork":"/n/c.conf")", members.empty() ? "" : ",", members);
  }
  void annotate(Annotations annotations) {
    node_.source.add_pod("ns1", "p1", std::move(annotations));
  }
  // The pod's networks annotation.
  void select(const std::string& networks) {
    annotate({{std::string(model::kNetworksAnnotation), networks}});
  }
  void add_network(const std::string& ns, const std::string& name, const std::string& config,
                   const std::string& resource_name = {}) {
    node_.source.add_network(ns, name, config, resource_name);
  }

  Result<Resolver::Resolved> resolve(const std::string& members = path_and({})) {
    return resolve_with(node_.cluster_ports(), members);
  }
  Result<Resolver::Resolved> resolve_with(Ports ports, const std::string& members) {
    Core core(ports, {});
    MNET_TRY(auto&& request, read_text(Verb::kAdd, text(members), log_));
    const Job job(std::move(request), Verb::kAdd);
    Resolver resolver(core, job, node_.source.pods["ns1/p1"]);
    return aio::run(loop_, resolver.resolve());
  }
  Result<model::Delegate> master(const std::string& members) {
    Core core(node_.cluster_ports(), {});
    MNET_TRY(auto&& request, read_text(Verb::kStatus, text(members), log_));
    const Job job(std::move(request), Verb::kStatus);
    Resolver resolver(core, job);
    return aio::run(loop_, resolver.master());
  }

  // The text of the error, or `no error`.
  std::string error_of(const std::string& members = path_and({})) {
    auto resolved = resolve(members);
    return resolved ? "no error" : resolved.error().text();
  }
  // The names of the delegates, in order.
  static std::vector<std::string> names(const Result<Resolver::Resolved>& resolved) {
    if (!resolved) return {resolved.error().text()};
    std::vector<std::string> names;
    for (const model::Delegate& delegate : resolved->delegates) names.push_back(delegate.name);
    return names;
  }

  bool logged(std::string_view text) const {
    for (const std::string& line : lines_->lines()) {
      if (line.contains(text)) return true;
    }
    return false;
  }

  static RequestText text(const std::string& members) {
    RequestText text;
    text.config = cat(R"({"cniVersion":"1.0.0",)", members, "}");
    text.pod = {.ns = "ns1", .name = "p1", .uid = "u1", .infra_container_id = "c1"};
    return text;
  }

  aio::asio::io_context loop_{1};
  FakeNode node_;
  std::shared_ptr<TestLog> lines_ = std::make_shared<TestLog>();
  Log log_{{lines_}, LogLevel::kVerbose};
};

}  // namespace mnet::attach
