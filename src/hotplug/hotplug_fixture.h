// What the tests of hot-plug share.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attach/node_fixture.h"
#include "attach/request_text.h"
#include "base/text.h"
#include "base/try.h"
#include "hotplug/hotplug.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/netconf.h"

namespace mnet::hotplug {

// A request as the client writes it.
struct RequestText {
  attach::RequestText request;  // its `config` is the delegate's
  std::string settings = "{}";
  std::vector<std::string> ips = {};
  std::string mac = {};
  std::optional<json::Object> cni_args = {};
};

inline Result<Request> read_text(attach::Verb verb, const RequestText& text, const Log& log) {
  MNET_TRY(auto&& request,
           attach::read_request(verb, attach::begin_text(text.request, log),
                                attach::read_settings(*model::parse_netconf(text.settings)),
                                attach::parse_args(verb, text.request.args)));
  return Request{.request = std::move(request),
                 .config = text.request.config,
                 .ips = text.ips,
                 .mac = text.mac,
                 .cni_args = text.cni_args};
}

// Hot-plug for such requests.
class TextHotplug {
 public:
  TextHotplug(attach::TextAttachments& attachments, Log log)
      : hotplug_(attachments.typed()), log_(std::move(log)) {}

  aio::Task<cni::NetResult> add(RequestText text) {
    MNET_CO_TRY(auto&& request, read_text(attach::Verb::kAdd, text, log_));
    co_return co_await hotplug_.add(std::move(request));
  }
  aio::Task<void> del(RequestText text) {
    MNET_CO_TRY(auto&& request, read_text(attach::Verb::kDel, text, log_));
    co_return co_await hotplug_.del(std::move(request));
  }
  aio::Task<void> check(RequestText text) {
    MNET_CO_TRY(auto&& request, read_text(attach::Verb::kCheck, text, log_));
    co_return co_await hotplug_.check(std::move(request));
  }
  aio::Task<void> status(RequestText text) {
    MNET_CO_TRY(auto&& request, read_text(attach::Verb::kStatus, text, log_));
    co_return co_await hotplug_.status(std::move(request));
  }

 private:
  Hotplug hotplug_;
  Log log_;
};

class HotplugTest : public attach::NodeTest {
 protected:
  // What a client of /delegate asks: one conf of the type `fake`.
  static RequestText request_of(const std::string& ifname, const std::string& network,
                                const std::string& version = "1.0.0") {
    RequestText what;
    what.request = request("");
    what.request.ifname = ifname;
    what.request.args = "K8S_POD_NAMESPACE=ns1;K8S_POD_NAME=p1;K8S_POD_UID=u1";
    what.request.config =
        cat(R"({"cniVersion":")", version, R"(","name":")", network, R"(","type":"fake"})");
    return what;
  }

  Result<cni::NetResult> plug(RequestText what) {
    return aio::run(loop_, hotplug().add(std::move(what)));
  }
  Result<void> unplug(RequestText what) { return aio::run(loop_, hotplug().del(std::move(what))); }
  Result<void> check_plugged(RequestText what) {
    return aio::run(loop_, hotplug().check(std::move(what)));
  }
  Result<void> status_of(RequestText what) {
    return aio::run(loop_, hotplug().status(std::move(what)));
  }
  // For a group: its result is not asked for.
  aio::Task<void> plugging(RequestText what) {
    MNET_CO_TRY([[maybe_unused]] const auto& added, co_await hotplug().add(std::move(what)));
    co_return Result<void>();
  }

  model::AttachmentRecord recorded() {
    const auto found = node_.records.records.find("c1");
    if (found == node_.records.records.end()) return {};
    return model::decode_record(found->second).value();
  }

  virtual TextHotplug& hotplug() { return hotplug_; }

 private:
  TextHotplug hotplug_{attachments_, log_};
};

}  // namespace mnet::hotplug
