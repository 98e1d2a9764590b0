#include "daemon/cni_service.h"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "adapters/pending_del.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "base/error.h"
#include "base/log.h"
#include "base/reading.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/error.h"
#include "cni/result.h"
#include "daemon/delegate_times.h"
#include "daemon/pending_del_replay.h"
#include "daemon/request.h"
#include "hotplug/hotplug.h"
#include "http/http.h"
#include "wire/wire.h"

namespace mnet::daemon {
namespace {

Error unknown_command(const CniCall& call) {
  return Error(Errc::kInvalid, cat("unknown cmd type: ", call.call.command));
}

// What commands other than ADD answer: nothing.
Result<std::string> no_body(Result<void> outcome) {
  if (!outcome) return std::move(outcome).error();
  return std::string();
}

Result<std::string> result_body(const Result<cni::NetResult>& result) {
  if (!result) return result.error();
  return wire::response_body(*result);
}

hotplug::Request dynamic_request(CniCall& call, const std::string& settings) {
  hotplug::Request request;
  request.request = std::move(call.request);
  request.settings = settings;
  if (!call.attributes) return request;
  request.ips = std::move(call.attributes->ips);
  request.mac = std::move(call.attributes->mac);
  request.cni_args = std::move(call.attributes->cni_args);
  return request;
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

aio::asio::awaitable<http::Response> CniService::cni(std::string body, Arrival arrival) {
  const auto begun = arrival.begun;
  const auto admitted = arrival.admitted;
  const DelegateTimes::Account delegates(needs_.times, arrival.ticket);
  auto call = read_cni_call(body, needs_.rules, std::move(arrival));
  std::string().swap(body);  // not needed while delegates run, and there may be a thousand
  if (!call) co_return error_response(call.error());
  const Log log = log_of(*call);
  for (const std::string& part : call->skipped_args) {
    log.warning(cat("DEL goes on without the invalid CNI_ARG '", part, "'"));
  }
  log.verbatim(LogLevel::kVerbose,
               cat(call->call.command, " starting CNI request ", wire::request_line(call->call)));
  note_id(*call, log);
  const Asked asked{call->call, call->request.pod, begun, admitted, delegates, log};
  auto outcome = co_await run(*std::move(call));
  co_return finish(asked, "CNI", std::move(outcome));
}

aio::asio::awaitable<http::Response> CniService::delegate(std::string body, Arrival arrival) {
  const auto begun = arrival.begun;
  const auto admitted = arrival.admitted;
  const DelegateTimes::Account delegates(needs_.times, arrival.ticket);
  auto call = read_delegate_call(body, needs_.rules, std::move(arrival));
  std::string().swap(body);
  if (!call) co_return error_response(call.error());
  const Log log = log_of(*call);
  log.verbatim(LogLevel::kVerbose, cat(call->call.command, " starting delegate request ",
                                       wire::request_line(call->call)));
  note_id(*call, log);
  const Asked asked{call->call, call->request.pod, begun, admitted, delegates, log};
  auto outcome = co_await run_dynamic(*std::move(call));
  co_return finish(asked, "Delegate", std::move(outcome));
}

// The lines above carry no id, because tools compare them word for word; this one joins the two.
void CniService::note_id(const CniCall& call, const Log& log) {
  log.debug(cat(call.call.command, " container ", go_quoted(call.call.container_id), " interface ",
                go_quoted(call.call.ifname)));
}

Log CniService::log_of(const CniCall& call) const {
  const Log log = log_.with_request(call.request.id).with_file(call.facts.log_file);
  const auto level = parse_log_level(call.facts.log_level);
  return level ? log.with_level(*level) : log;
}

http::Response CniService::finish(const Asked& asked, std::string_view kind,
                                  Result<std::string> outcome) {
  const wire::Call& call = asked.call;
  const auto now = std::chrono::steady_clock::now();
  needs_.metrics.observe_request(call.command, now - asked.begun);
  needs_.metrics.observe_wait(call.command, asked.admitted - asked.begun);
  needs_.metrics.observe_own_share(call.command, now - asked.admitted - asked.delegates.total());
  if (asked.log.writes(LogLevel::kVerbose)) {
    asked.log.verbatim(LogLevel::kVerbose,
                       cat(call.command, " finished ", kind, " request ", wire::request_line(call),
                           ", result: ", go_quoted(outcome.value_or("")),
                           ", err: ", outcome ? std::string("<nil>") : outcome.error().text()));
  }
  if (!outcome) {
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(now - asked.begun);
    asked.log.error(cat(call.command, " of container ", call.container_id, " failed after ",
                        took.count(), " ms"),
                    outcome.error());
  }
  if (!outcome) {
    needs_.metrics.count_error(call.command, cni::object_for_runtime(outcome.error()).code);
    return error_response(request_error(call, asked.pod, std::move(outcome).error()));
  }
  return success(*std::move(outcome));
}

aio::Task<std::string> CniService::run(CniCall call) {
  MNET_CO_TRY_VOID(check_indicator(call));
  const std::string command = call.call.command;
  if (command == "ADD") {
    co_return co_await add(std::move(call));
  }
  if (command == "DEL") {
    co_return co_await del(std::move(call));
  }
  if (command == "CHECK") {
    auto checked = co_await needs_.core.check(std::move(call.request));
    co_return no_body(std::move(checked));
  }
  if (command == "STATUS") {
    auto status = co_await needs_.core.status(std::move(call.request));
    co_return no_body(std::move(status));
  }
  if (command == "GC") {
    co_return co_await gc(std::move(call));
  }
  co_return unknown_command(call);
}

// Only where the daemon itself watches the indicator; otherwise the core was told of it.
Result<void> CniService::check_indicator(const CniCall& call) const {
  if (!needs_.rules.drops_readiness_indicator || needs_.readiness.indicator_is_there()) return {};
  if (call.is("ADD") || call.is("CHECK")) {
    return cni::coded(cni::Code::kTryAgainLater, needs_.readiness.waiting_text());
  }
  if (call.is("STATUS")) {
    return cni::coded(cni::Code::kNotAvailable, needs_.readiness.waiting_text());
  }
  return {};
}

aio::Task<std::string> CniService::add(CniCall call) {
  const PendingKey key{call.facts.cni_dir, call.request.container_id, call.request.ifname};
  const auto caller = call.request.caller;
  needs_.pending.look_in(key.cni_dir);
  const PendingDelReplay::Hold hold(needs_.pending, key);
  const bool has_record = needs_.pending.may_have(key);
  if (has_record) {
    auto replayed = co_await needs_.pending.replay(key);
    if (!replayed) co_return adapters::pending_in_the_way(replayed.error());
  }
  auto result = co_await needs_.core.add(std::move(call.request));
  if (!result) {
    if (caller && caller->gone()) needs_.metrics.count_undone_on_disconnect();
    co_return std::move(result).error();
  }
  if (has_record) {
    auto forgotten = co_await needs_.pending.forget(key);
    if (!forgotten && !is_damage(forgotten.error()))
      co_return adapters::pending_in_the_way(forgotten.error());
  }
  co_return result_body(result);
}

aio::Task<std::string> CniService::del(CniCall call) {
  const PendingKey key{call.facts.cni_dir, call.request.container_id, call.request.ifname};
  const Log log = log_of(call);
  needs_.pending.look_in(key.cni_dir);
  const attach::Request request = call.request;
  auto outcome = co_await needs_.core.del(std::move(call.request));
  const auto deleted = outcome ? outcome->complete() : Result<void>(outcome.error());
  if (!deleted) {
    needs_.metrics.count_incomplete_del();
    if (!outcome) co_return deleted.error();
    co_return co_await end_incomplete_del(*std::move(outcome), key, request, log);
  }
  // Also one that was written while this ran: its client had given up.
  if (needs_.pending.may_have(key)) {
    auto forgotten = co_await needs_.pending.forget(key);
    if (!forgotten) log.error("forgetting a pending DEL", forgotten.error());
  }
  co_return std::string();
}

// What could not be read is deleted by a later round, so the runtime need not wait for it.
aio::Task<std::string> CniService::end_incomplete_del(attach::DelOutcome outcome, PendingKey key,
                                                      attach::Request request, Log log) {
  if (outcome.failed && outcome.keeps_failed) co_return *std::move(outcome.failed);
  if (outcome.unreadable) {
    auto written = co_await needs_.pending.write(std::move(key), std::move(request));
    if (!written) {
      log.error("writing a pending DEL", written.error());
      co_return *std::move(outcome.unreadable);
    }
    log.error("DEL will be repeated as a pending DEL", *outcome.unreadable);
    co_return std::string();
  }
  log.error("DEL", *outcome.failed);
  co_return std::string();
}

aio::Task<std::string> CniService::gc(CniCall call) {
  auto done = co_await needs_.core.gc(std::move(call.request));
  // What it deleted makes records pointless: their replay finds nothing and removes them.
  if (done) needs_.pending.wake();
  co_return no_body(std::move(done));
}

aio::Task<std::string> CniService::run_dynamic(CniCall call) {
  const std::string command = call.call.command;
  hotplug::Request request = dynamic_request(call, needs_.settings);
  if (command == "ADD") {
    auto result = co_await needs_.core.add_dynamic(std::move(request));
    co_return result_body(result);
  }
  if (command == "DEL") {
    auto deleted = co_await needs_.core.del_dynamic(std::move(request));
    co_return no_body(std::move(deleted));
  }
  if (command == "CHECK") {
    auto checked = co_await needs_.core.check_dynamic(std::move(request));
    co_return no_body(std::move(checked));
  }
  if (command == "STATUS") {
    auto status = co_await needs_.core.status_dynamic(std::move(request));
    co_return no_body(std::move(status));
  }
  co_return unknown_command(call);
}

}  // namespace mnet::daemon
