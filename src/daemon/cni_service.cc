#include "daemon/cni_service.h"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "admission/delegate_times.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "attach/request.h"
#include "base/error.h"
#include "base/log.h"
#include "base/reading.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/error.h"
#include "cni/result.h"
#include "daemon/pending_del_replay.h"
#include "daemon/request.h"
#include "hotplug/hotplug.h"
#include "http/http.h"
#include "model/messages.h"
#include "model/netconf.h"
#include "store/pending_dels.h"
#include "store/store.h"
#include "wire/wire.h"

namespace mnet::daemon {
namespace {

aio::Task<std::string> refuse(Error error) { co_return error; }

// What commands other than ADD answer: nothing.
aio::Task<std::string> no_body(aio::Task<void> task) {
  MNET_CO_TRY_VOID(co_await std::move(task));
  co_return std::string();
}

aio::Task<std::string> result_body(aio::Task<cni::NetResult> task) {
  MNET_CO_TRY(const auto& result, co_await std::move(task));
  co_return wire::response_body(result);
}

hotplug::Request hotplug_request(CniCall call) {
  hotplug::Request request;
  request.request = *std::move(call.request);
  request.config = std::move(call.config);
  if (!call.attributes) return request;
  request.ips = std::move(call.attributes->ips);
  request.mac = std::move(call.attributes->mac);
  request.cni_args = std::move(call.attributes->cni_args);
  return request;
}

// The first two lines carry no id, because tools compare them word for word; the last joins them.
void note_start(CniPath path, const CniCall& call) {
  const wire::Call& said = call.call;
  for (const std::string& part : call.skipped_args) {
    call.log.warning(cat("DEL continues without the invalid CNI_ARG '", excerpt(part), "'"));
  }
  call.log.verbatim(LogLevel::kVerbose,
                    cat(said.command, " starting ", path == CniPath::kCni ? "CNI" : "delegate",
                        " request ", wire::request_line(said)));
  call.log.debug(cat(said.command, " container ", go_quoted(said.container_id), " interface ",
                     go_quoted(said.ifname)));
}

http::Response success(std::string body) {
  http::Response response;
  if (!body.empty()) response.content_type = "application/json";
  response.body = std::move(body);
  return response;
}

}  // namespace

http::Response error_response(const Error& error) {
  wire::ErrorBody body = wire::error_body(error);
  http::Response response;
  response.status = 400;
  response.content_type = std::move(body.content_type);
  response.body = std::move(body.body);
  if (response.content_type.starts_with("text/")) {
    response.headers = {{"X-Content-Type-Options", "nosniff"}};
  }
  return response;
}

aio::asio::awaitable<http::Response> CniService::serve(CniPath path, std::string body,
                                                       Arrival arrival) {
  const auto begun = arrival.begun;
  const auto admitted = arrival.admitted;
  const admission::DelegateTimes::Account delegates(needs_.times, arrival.ticket);
  const auto read = path == CniPath::kCni ? read_cni_call : read_delegate_call;
  auto call = read(body, needs_.rules, std::move(arrival), log_);
  std::string().swap(body);  // not needed while delegates run, and there may be a thousand
  if (!call) co_return error_response(call.error());
  note_start(path, *call);
  const Asked asked{path, call->call, call->pod, begun, admitted, delegates, call->log};
  auto running = path == CniPath::kCni ? run(*std::move(call)) : run_hotplug(*std::move(call));
  auto outcome = co_await std::move(running);
  co_return finish(asked, std::move(outcome));
}

http::Response CniService::finish(const Asked& asked, Result<std::string> outcome) {
  const wire::Call& call = asked.call;
  const auto now = std::chrono::steady_clock::now();
  needs_.metrics.observe_request(call.command, now - asked.begun);
  needs_.metrics.observe_wait(call.command, asked.admitted - asked.begun);
  needs_.metrics.observe_own_share(call.command, now - asked.admitted - asked.delegates.total());
  if (asked.log.writes(LogLevel::kVerbose)) {
    asked.log.verbatim(
        LogLevel::kVerbose,
        cat(call.command, " finished ", asked.path == CniPath::kCni ? "CNI" : "Delegate",
            " request ", wire::request_line(call),
            ", result: ", go_quoted(outcome.value_or(""), model::kMostOfResult),
            ", err: ", outcome ? std::string("<nil>") : outcome.error().text()));
  }
  if (!outcome) {
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(now - asked.begun);
    asked.log.error(cat(call.command, " of container ", excerpt(call.container_id),
                        " failed after ", took.count(), " ms"),
                    outcome.error());
    needs_.metrics.count_error(call.command, cni::object_for_runtime(outcome.error()).code);
    return error_response(request_error(call, asked.pod, std::move(outcome).error()));
  }
  return success(*std::move(outcome));
}

aio::Task<std::string> CniService::run(CniCall call) {
  if (auto there = check_indicator(call); !there) return refuse(std::move(there).error());
  if (!call.request) {
    if (call.verb == attach::Verb::kDel) needs_.metrics.count_incomplete_del();
    return refuse(std::move(call.request).error());
  }
  attach::Request request = *std::move(call.request);
  switch (*call.verb) {
    case attach::Verb::kAdd:
      return add(std::move(request));
    case attach::Verb::kDel:
      return del(std::move(request));
    case attach::Verb::kCheck:
      return no_body(check(std::move(request)));
    case attach::Verb::kStatus:
      return no_body(needs_.core.status(std::move(request)));
    case attach::Verb::kGc:
      return no_body(gc(std::move(request)));
  }
  return refuse(Error(Errc::kBug, "no such verb"));
}

// Only where the daemon itself watches the indicator; otherwise the core was told of it.
Result<void> CniService::check_indicator(const CniCall& call) const {
  if (!needs_.rules.drops_readiness_indicator || needs_.readiness.indicator_is_there()) return {};
  if (call.verb == attach::Verb::kAdd || call.verb == attach::Verb::kCheck) {
    return cni::coded(cni::Code::kTryAgainLater, needs_.readiness.waiting_text());
  }
  if (call.verb == attach::Verb::kStatus) {
    return cni::coded(cni::Code::kNotAvailable, needs_.readiness.waiting_text());
  }
  return {};
}

aio::Task<std::string> CniService::add(attach::Request request) {
  const PendingKey key{request.conf->cni_dir, request.container_id, request.ifname};
  const auto caller = request.caller;
  needs_.pending.look_in(key.cni_dir);
  const PendingDelReplay::Hold hold(needs_.pending, key);
  const auto lock = needs_.locks.keep(key.container_id);  // until the record is removed
  if (needs_.pending.may_have(key)) {
    auto replayed = co_await needs_.pending.replay(key, request.log);
    if (!replayed) co_return store::pending_in_the_way(replayed.error());
  }
  auto result = co_await needs_.core.add(std::move(request));
  if (!result) {
    if (caller->gone()) needs_.metrics.count_undone_on_disconnect();
    co_return std::move(result).error();
  }
  // It may also come from a DEL that ended while this request waited for its turn.
  if (needs_.pending.may_have(key)) {
    auto forgotten = co_await needs_.pending.forget(key);
    if (!forgotten && !is_damage(forgotten.error()))
      co_return store::pending_in_the_way(forgotten.error());
  }
  if (hooks_.added) hooks_.added(key.cni_dir, key.container_id);
  co_return wire::response_body(*result);
}

// What a client plugs in or out may be what the pod's annotation names.
template <typename T>
aio::Task<T> CniService::and_tell(aio::Task<T> task, std::string cni_dir,
                                  std::string container_id) {
  auto outcome = co_await std::move(task);
  if (hooks_.plugged) hooks_.plugged(cni_dir, container_id);
  co_return std::move(outcome);
}

aio::Task<std::string> CniService::del(attach::Request request) {
  const PendingKey key{request.conf->cni_dir, request.container_id, request.ifname};
  const Log log = request.log;
  needs_.pending.look_in(key.cni_dir);
  if (hooks_.gone) hooks_.gone(key.container_id);
  auto outcome = co_await needs_.core.del(std::move(request));
  if (auto deleted = attach::complete(outcome); !deleted) {
    needs_.metrics.count_incomplete_del();
    if (!outcome) co_return std::move(deleted).error();
    co_return end_incomplete_del(*std::move(outcome));
  }
  // It may also have been written while this ran: its client had given up.
  if (needs_.pending.may_have(key)) {
    auto forgotten = co_await needs_.pending.forget(key);
    if (!forgotten) log.error("cannot remove a pending DEL", forgotten.error());
  }
  co_return std::string();
}

// A later round deletes what is a pending DEL by now, so the runtime need not wait for it.
Result<std::string> CniService::end_incomplete_del(attach::DelOutcome outcome) {
  if (outcome.is_pending) return std::string();
  return outcome.failed ? *std::move(outcome.failed) : *std::move(outcome.unreadable);
}

aio::Task<void> CniService::check(attach::Request request) {
  MNET_CO_TRY(const auto& reported, co_await needs_.core.check(std::move(request)));
  needs_.metrics.count_failed_checks(reported);
  co_return Result<void>();
}

aio::Task<void> CniService::gc(attach::Request request) {
  MNET_CO_TRY_VOID(co_await needs_.core.gc(std::move(request)));
  // Its deletions make records pointless: their replay finds nothing and removes them.
  needs_.pending.wake();
  co_return Result<void>();
}

// The settings of hot-plug come from the daemon's configuration alone; the container was perhaps
// attached by a request that names another `cniDir`.
void CniService::find_records(attach::Request& request) const {
  const auto is_there = [&request](const std::string& cni_dir) {
    return store::AttachmentRecords(cni_dir).has(request.container_id) ||
           store::ScratchFiles(cni_dir).has(request.container_id);
  };
  if (is_there(request.conf->cni_dir)) return;
  for (const std::string& cni_dir : needs_.pending.directories()) {
    if (!is_there(cni_dir)) continue;
    auto conf = std::make_shared<model::NetConf>(*request.conf);
    conf->cni_dir = cni_dir;
    request.conf = std::move(conf);
    return;
  }
}

aio::Task<std::string> CniService::run_hotplug(CniCall call) {
  if (!call.request) return refuse(std::move(call.request).error());
  find_records(*call.request);
  const attach::Verb verb = *call.verb;
  if (hooks_.foreign_call && (verb == attach::Verb::kAdd || verb == attach::Verb::kDel)) {
    hooks_.foreign_call(call.call.command);
  }
  hotplug::Request request = hotplug_request(std::move(call));
  const std::string cni_dir = request.request.conf->cni_dir;
  const std::string container_id = request.request.container_id;
  switch (verb) {
    case attach::Verb::kAdd:
      return result_body(and_tell(needs_.hotplug.add(std::move(request)), cni_dir, container_id));
    case attach::Verb::kDel:
      return no_body(and_tell(needs_.hotplug.del(std::move(request)), cni_dir, container_id));
    case attach::Verb::kCheck:
      return no_body(needs_.hotplug.check(std::move(request)));
    case attach::Verb::kStatus:
      return no_body(needs_.hotplug.status(std::move(request)));
    case attach::Verb::kGc:
      break;  // refused by read_delegate_call()
  }
  return refuse(Error(Errc::kBug, "no such verb"));
}

}  // namespace mnet::daemon
