// The node of attach/node_fixture.h with a cluster behind it: pods with annotations, networks by
// definition.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "attach/node_fixture.h"
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

}  // namespace mnet::attach
