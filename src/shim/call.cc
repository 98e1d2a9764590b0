#include "shim/call.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/error.h"
#include "cni/result.h"
#include "json/json.h"
#include "json/secrets.h"
#include "shim/config.h"
#include "shim/connection.h"
#include "shim/daemon.h"
#include "shim/log.h"
#include "shim/response.h"
#include "shim/shim.h"
#include "skel/skel.h"
#include "store/pending_dels.h"
#include "wire/wire.h"

namespace mnet::shim {

using cni::Code;

struct Verb {
  std::string_view name;  // heads every message: `CmdAdd (shim): …`
  Limits::Time Limits::* reach;
  Limits::Time Limits::* whole;
  Daemon::Wanted wanted = Daemon::Wanted::kReady;
  Limits::Time Limits::* one_check = nullptr;  // none: what is left of `reach`
  bool is_whole_replaced = false;              // by shimTimeout; else that can only lower it
  bool is_answer_awaited = false;              // for as long as the work takes
  bool ignores_wrong_keys = false;
  Code when_unavailable = Code::kTryAgainLater;
};

namespace {

constexpr Verb kAdd{.name = "CmdAdd",
                    .reach = &Limits::reach_add,
                    .whole = &Limits::whole_add,
                    .one_check = &Limits::one_check,
                    .is_whole_replaced = true};
constexpr Verb kCheck{.name = "CmdCheck",
                      .reach = &Limits::reach_add,
                      .whole = &Limits::whole_add,
                      .one_check = &Limits::one_check,
                      .is_whole_replaced = true};
constexpr Verb kDel{.name = "CmdDel",
                    .reach = &Limits::reach_del,
                    .whole = &Limits::whole_del,
                    .wanted = Daemon::Wanted::kAlive,
                    .is_whole_replaced = true,
                    .ignores_wrong_keys = true};
constexpr Verb kGc{.name = "CmdGC",
                   .reach = &Limits::reach_gc,
                   .whole = &Limits::whole_status,
                   .is_answer_awaited = true};
constexpr Verb kStatus{.name = "CmdStatus",
                       .reach = &Limits::reach_gc,
                       .whole = &Limits::whole_status,
                       .when_unavailable = Code::kNotAvailable};

std::string headed(const Verb& verb, std::string_view text) {
  return cat(verb.name, " (shim): ", text);
}

// The msg gets the head, code and details stay; without an object inside it becomes code 999.
Error headed(const Verb& verb, const Error& error) {
  if (error.origin() == nullptr) return error.with_text(headed(verb, error.text()));
  ErrorObject object = *error.origin();
  object.msg = headed(verb, object.msg);
  return Error::from_object(error.code(), std::move(object));
}

bool is_retry_wanted(const Error& error) {
  return error.origin() != nullptr &&
         error.origin()->code == static_cast<std::uint64_t>(Code::kTryAgainLater);
}

// Where no process listens on the socket: people read this in the events of their pod.
std::string_view next_step(const Error& why) {
  const bool is_absent = why.os_errno() == ENOENT || why.os_errno() == ECONNREFUSED;
  if (!is_absent) return {};
  return "; multus-daemon does not run on this node: look at its pod (kubectl -n kube-system get "
         "pods -l app=multus -o wide)";
}

}  // namespace

Call::Call(const Surroundings& surroundings, const skel::CmdArgs& args)
    : surroundings_(surroundings),
      args_(args),
      started_(Clock::now()),
      request_id_(wire::request_id(surroundings.random())),
      log_(open_log(args.stdin_data, surroundings.front).with_request(request_id_)) {}

std::string Call::body() const {
  return wire::to_text(make_request(surroundings_.environment, args_.stdin_data));
}

Deadline Call::end_of(const Verb& verb, const Config& config) const {
  const Limits::Time time = surroundings_.limits.*verb.whole;
  if (!config.timeout) return started_ + time;
  return started_ + (verb.is_whole_replaced ? *config.timeout : std::min(time, *config.timeout));
}

Error Call::failed(const Verb& verb, const Error& error) const {
  Error shown = headed(verb, error);
  log_.error(shown.text());
  if (log_.writes(LogLevel::kDebug)) {
    log_.debug(headed(verb, cat("StdinData: ", json::without_secrets(args_.stdin_data))));
  }
  return shown;
}

Error Call::unavailable(const Verb& verb, std::string_view said, const Error& why) const {
  if (verb.when_unavailable == Code::kTryAgainLater) {
    return failed(verb, cni::coded(Code::kTryAgainLater, cat(said, why.text(), next_step(why))));
  }
  Error error = cni::coded(verb.when_unavailable,
                           cat("multus daemon is not available: ", why.text(), next_step(why)));
  log_.error(error.text());
  return error;
}

Result<Config> Call::read_config(const Verb& verb) const {
  auto config = parse_config(args_.stdin_data,
                             verb.ignores_wrong_keys ? WrongKeys::kIgnored : WrongKeys::kRefused);
  if (!config) {
    return failed(verb, config.error().wrap("invalid CNI configuration passed to multus-shim"));
  }
  for (const std::string& complaint : config->complaints) {
    log_.error(headed(verb, cat("ignored: ", complaint)));
  }
  return config;
}

Result<Connection> Call::reach(const Verb& verb, const Config& config) const {
  const Limits& limits = surroundings_.limits;
  const Limits::Time most = limits.*verb.reach;
  const Daemon daemon(config.socket, request_id_);
  return daemon.reach(verb.wanted,
                      {.until = std::min(started_ + most, end_of(verb, config)),
                       .one_check = verb.one_check == nullptr ? most : limits.*verb.one_check,
                       .between_checks = limits.between_checks});
}

Result<Response> Call::send(const Verb& verb, const Config& config, Connection connection) const {
  const Daemon daemon(config.socket, request_id_);
  const Deadline end = end_of(verb, config);
  return daemon.send(std::move(connection), body(), end,
                     verb.is_answer_awaited ? kNoDeadline : end);
}

// For all verbs but DEL: the daemon's answer if it is a success. If the daemon is missing or too
// slow, the error tells the runtime to try again.
Result<Response> Call::ask(const Verb& verb, const Config& config) const {
  auto connection = reach(verb, config);
  if (!connection) {
    return unavailable(verb, "timed out waiting for the condition: ", connection.error());
  }
  auto response = send(verb, config, *std::move(connection));
  if (!response) {
    const Error& why = response.error();
    return why.code() == Errc::kTimeout ? unavailable(verb, "", why) : failed(verb, why);
  }
  if (response->status == 200) return response;
  return failed(verb, wire::parse_error(response->status, response->body));
}

Result<void> Call::ask_and_forget(const Verb& verb) const {
  MNET_TRY(const auto& config, read_config(verb));
  MNET_TRY(const auto& response, ask(verb, config));
  const auto parsed = wire::parse_response(response.body);
  return parsed ? Result<void>() : failed(verb, parsed.error());
}

Result<void> Call::check() const { return ask_and_forget(kCheck); }
Result<void> Call::gc() const { return ask_and_forget(kGc); }
Result<void> Call::status() const { return ask_and_forget(kStatus); }

Result<cni::NetResult> Call::ask_for_result(const Config& config) const {
  MNET_TRY(const auto& response, ask(kAdd, config));
  auto result = wire::parse_response(response.body);
  if (!result) return failed(kAdd, result.error());
  if (!*result) return failed(kAdd, Error(Errc::kProtocol, "daemon returned no result"));
  return **std::move(result);
}

Result<void> Call::add() const {
  MNET_TRY(const auto& config, read_config(kAdd));
  MNET_TRY(const auto& result, ask_for_result(config));
  if (log_.writes(LogLevel::kVerbose)) {
    log_.verbose(headed(kAdd, json::dump(cni::to_json(result))));
  }
  auto printed = skel::print_result(result, config.cni_version, surroundings_.front);
  if (!printed) log_.error(headed(kAdd, printed.error().text()));
  return printed;
}

Result<void> Call::del() const {
  const auto config = read_config(kDel);
  if (!config) return {};  // not JSON, which skel refuses before
  auto connection = reach(kDel, *config);
  if (!connection) {
    return remember_del(
        *config, connection.error().wrap("CheckAPIReadyNow: Daemon not reachable over socketfile"));
  }
  const auto response = send(kDel, *config, *std::move(connection));
  return response ? answered_del(*config, *response) : remember_del(*config, response.error());
}

// Only "try again" is passed on: a sandbox whose DEL fails for good could never be removed. With
// another status than these two the daemon has not even tried.
Result<void> Call::answered_del(const Config& config, const Response& response) const {
  if (response.status == 200) return {};
  const Error said = wire::parse_error(response.status, response.body);
  if (response.status != 400) return remember_del(config, said);
  const Error error = failed(kDel, said);
  return is_retry_wanted(error) ? Result<void>(error) : Result<void>();
}

Result<void> Call::remember_del(const Config& config, const Error& why) const {
  log_.error(headed(kDel, why.text()));
  const auto path =
      store::PendingDels(config.cni_dir).write(args_.container_id, args_.ifname, body());
  if (!path) {
    return failed(kDel,
                  cni::coded(Code::kTryAgainLater,
                             cat(why.text(), "; cannot record the DEL: ", path.error().text())));
  }
  log_.verbose(headed(kDel, cat("recorded for the daemon in ", *path)));
  return {};
}

}  // namespace mnet::shim
