// What the tests of hot-plug share.
#pragma once

#include <string>
#include <utility>

#include "attach/node_fixture.h"
#include "base/text.h"
#include "base/try.h"
#include "hotplug/hotplug.h"
#include "model/attachment_record.h"

namespace mnet::hotplug {

class HotplugTest : public attach::NodeTest {
 protected:
  // What a client of /delegate asks: one conf of the type `fake`.
  static Request request_of(const std::string& ifname, const std::string& network,
                            const std::string& version = "1.0.0") {
    Request what;
    what.request = request("");
    what.request.ifname = ifname;
    what.request.args = "K8S_POD_NAMESPACE=ns1;K8S_POD_NAME=p1;K8S_POD_UID=u1";
    what.request.config =
        cat(R"({"cniVersion":")", version, R"(","name":")", network, R"(","type":"fake"})");
    what.settings = "{}";
    return what;
  }

  Result<cni::NetResult> plug(Request what) {
    return aio::run(loop_, hotplug().add(std::move(what)));
  }
  Result<void> unplug(Request what) { return aio::run(loop_, hotplug().del(std::move(what))); }
  Result<void> check_plugged(Request what) {
    return aio::run(loop_, hotplug().check(std::move(what)));
  }
  Result<void> status_of(Request what) {
    return aio::run(loop_, hotplug().status(std::move(what)));
  }
  // For a group: its result is not asked for.
  aio::Task<void> plugging(Request what) {
    MNET_CO_TRY([[maybe_unused]] const auto& added, co_await hotplug().add(std::move(what)));
    co_return Result<void>();
  }

  model::AttachmentRecord recorded() {
    const auto found = node_.records.records.find("c1");
    if (found == node_.records.records.end()) return {};
    return model::decode_record(found->second).value();
  }

  virtual Hotplug& hotplug() { return hotplug_; }

 private:
  Hotplug hotplug_{attachments_};
};

}  // namespace mnet::hotplug
