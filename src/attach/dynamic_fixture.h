// What the tests of dynamic attachments share.
#pragma once

#include <string>
#include <utility>

#include "attach/node_fixture.h"
#include "base/text.h"
#include "base/try.h"
#include "model/attachment_record.h"

namespace mnet::attach {

class DynamicTest : public NodeTest {
 protected:
  // What a client of /delegate asks: one conf of the type `fake`.
  static DynamicRequest dynamic(const std::string& ifname, const std::string& network,
                                const std::string& version = "1.0.0") {
    DynamicRequest what;
    what.request = request("");
    what.request.ifname = ifname;
    what.request.args = "K8S_POD_NAMESPACE=ns1;K8S_POD_NAME=p1;K8S_POD_UID=u1";
    what.request.config =
        cat(R"({"cniVersion":")", version, R"(","name":")", network, R"(","type":"fake"})");
    what.settings = "{}";
    return what;
  }

  Result<cni::NetResult> plug(DynamicRequest what) {
    return aio::run(loop_, attachments().add_dynamic(std::move(what)));
  }
  Result<void> unplug(DynamicRequest what) {
    return aio::run(loop_, attachments().del_dynamic(std::move(what)));
  }
  Result<void> check_dynamic(DynamicRequest what) {
    return aio::run(loop_, attachments().check_dynamic(std::move(what)));
  }
  Result<void> status_dynamic(DynamicRequest what) {
    return aio::run(loop_, attachments().status_dynamic(std::move(what)));
  }
  // For a group: its result is not asked for.
  aio::Task<void> plugging(DynamicRequest what) {
    MNET_CO_TRY([[maybe_unused]] const auto& added,
                co_await attachments().add_dynamic(std::move(what)));
    co_return Result<void>();
  }

  model::AttachmentRecord calls() {
    const auto found = node_.records.records.find("c1");
    if (found == node_.records.records.end()) return {};
    return model::decode_record(found->second).value();
  }

  virtual Attachments& attachments() { return attachments_; }
};

}  // namespace mnet::attach
