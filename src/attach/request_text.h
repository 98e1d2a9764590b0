// For tests: requests as text, the way a runtime writes them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "aio/task.h"
#include "attach/request.h"
#include "base/log.h"
#include "base/text.h"
#include "base/try.h"
#include "model/netconf.h"

namespace mnet::attach {

struct RequestText {
  std::string container_id = "c1";
  std::string netns = "/ns";
  std::string ifname = "eth0";
  std::string args = {};
  std::string path = {};
  std::string config = {};
  model::Pod pod = {};  // what it leaves empty is read from `args`
  std::string id = {};
  std::shared_ptr<chain::Caller> caller = {};
  std::string pending_body = {};
};

inline Request begin_text(RequestText text, const Log& log) {
  Request begun;
  begun.container_id = std::move(text.container_id);
  begun.netns = std::move(text.netns);
  begun.ifname = std::move(text.ifname);
  begun.path = std::move(text.path);
  begun.pod = std::move(text.pod);
  begun.log = text.id.empty() ? log : log.with_request(text.id);
  begun.id = std::move(text.id);
  begun.caller = std::move(text.caller);
  begun.pending_body = std::move(text.pending_body);
  return begun;
}

inline Result<Request> read_text(Verb verb, const RequestText& text, const Log& log) {
  auto document = model::parse_netconf(text.config);
  const auto fault = document ? std::nullopt : std::optional(document.error());
  return read_request(verb, begin_text(text, log),
                      read_conf(verb, std::move(document).value_or(json::Object()), fault),
                      parse_args(verb, text.args));
}

// The verbs for such requests.
class TextAttachments {
 public:
  TextAttachments(Ports ports, Log log, Options options = {})
      : attachments_(ports, std::move(options)), log_(std::move(log)) {}

  aio::Task<cni::NetResult> add(RequestText text) {
    MNET_CO_TRY(auto&& request, read_text(Verb::kAdd, text, log_));
    co_return co_await attachments_.add(std::move(request));
  }
  aio::Task<DelOutcome> del(RequestText text) {
    MNET_CO_TRY(auto&& request, read_text(Verb::kDel, text, log_));
    co_return co_await attachments_.del(std::move(request));
  }
  aio::Task<void> check(RequestText text) {
    MNET_CO_TRY(auto&& request, read_text(Verb::kCheck, text, log_));
    MNET_CO_TRY([[maybe_unused]] const auto& reported,
                co_await attachments_.check(std::move(request)));
    co_return Result<void>();
  }
  aio::Task<void> status(RequestText text) {
    MNET_CO_TRY(auto&& request, read_text(Verb::kStatus, text, log_));
    co_return co_await attachments_.status(std::move(request));
  }
  aio::Task<void> gc(RequestText text) {
    MNET_CO_TRY(auto&& request, read_text(Verb::kGc, text, log_));
    co_return co_await attachments_.gc(std::move(request));
  }

  Attachments& typed() { return attachments_; }

 private:
  Attachments attachments_;
  Log log_;
};

}  // namespace mnet::attach
