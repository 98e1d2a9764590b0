// What the tests of the verbs share: a node in memory, a loop, requests with little to say.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/run.h"
#include "attach/attach.h"
#include "attach/fake_ports.h"
#include "attach/request_text.h"
#include "base/log.h"
#include "base/test_log.h"
#include "base/try.h"

namespace mnet::attach {

// What a runtime hears of a DEL.
inline Result<void> told(const Result<DelOutcome>& outcome) {
  if (!outcome) return outcome.error();
  if (outcome->failed && outcome->keeps_failed) return *outcome->failed;
  return {};
}

class NodeTest : public testing::Test {
 protected:
  // `members` are the inside of the netconf's object.
  static RequestText request(const std::string& members) {
    RequestText request;
    request.path = "/opt/cni/bin";
    request.config =
        cat("{\"cniVersion\":\"1.0.0\",\"name\":\"multus\",\"type\":\"multus\",", members, "}");
    request.args =
        "IgnoreUnknown=1;K8S_POD_NAMESPACE=ns1;K8S_POD_NAME=p1;K8S_POD_INFRA_CONTAINER_ID=c1;"
        "K8S_POD_UID=u1";
    request.id = "00112233aabbccdd";
    return request;
  }

  // `"delegates":[…]` of confs with these names, all of the type `fake`.
  static std::string delegates(const std::vector<std::string>& names,
                               const std::string& version = "1.0.0") {
    std::vector<std::string> confs;
    for (const std::string& name : names) {
      confs.push_back(
          cat(R"({"cniVersion":")", version, R"(","name":")", name, R"(","type":"fake"})"));
    }
    return cat("\"delegates\":[", join(confs, ","), "]");
  }

  Result<cni::NetResult> add(RequestText request) {
    return aio::run(loop_, attachments_.add(std::move(request)));
  }
  // The same for a group: its result is not asked for.
  aio::Task<void> adding(RequestText request) {
    MNET_CO_TRY([[maybe_unused]] const auto& added, co_await attachments_.add(std::move(request)));
    co_return Result<void>();
  }
  Result<DelOutcome> try_del(RequestText request) {
    return aio::run(loop_, attachments_.del(std::move(request)));
  }
  // What the runtime hears.
  Result<void> del(RequestText request) { return told(try_del(std::move(request))); }
  // The same for a group.
  aio::Task<void> deleting(RequestText request) {
    const auto deleted = co_await attachments_.del(std::move(request));
    co_return told(deleted);
  }
  Result<void> check(RequestText request) {
    return aio::run(loop_, attachments_.check(std::move(request)));
  }
  Result<void> status(RequestText request) {
    return aio::run(loop_, attachments_.status(std::move(request)));
  }
  Result<void> gc(RequestText request) {
    return aio::run(loop_, attachments_.gc(std::move(request)));
  }

  bool logged(std::string_view text) const {
    for (const std::string& line : lines_->lines()) {
      if (line.contains(text)) return true;
    }
    return false;
  }
  void forget() {
    node_.calls.clear();
    node_.plugins.runs.clear();
  }

  aio::asio::io_context loop_{1};
  FakeNode node_;
  std::shared_ptr<TestLog> lines_ = std::make_shared<TestLog>();
  Log log_{{lines_}, LogLevel::kVerbose};
  TextAttachments attachments_{node_.ports(),
                               log_,
                               {.readiness_wait = std::chrono::milliseconds(20),
                                .readiness_poll = std::chrono::milliseconds(1)}};
};

// Matches an error object that the runtime would see.
MATCHER_P(HasCode, code, "") {
  const ErrorObject* object = arg.origin();
  return object != nullptr && object->code == static_cast<std::uint64_t>(code);
}

}  // namespace mnet::attach
