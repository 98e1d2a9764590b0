// What happens to one request of /cni or /delegate behind admission: read it, ask the core, make
// the answer (03, 2.8 to 2.10). Knows no sockets.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "aio/task.h"
#include "base/log.h"
#include "daemon/core.h"
#include "daemon/delegate_times.h"
#include "daemon/pending_del_replay.h"
#include "daemon/readiness.h"
#include "daemon/request.h"
#include "http/http.h"
#include "metrics/metrics.h"

namespace mnet::daemon {

struct CniServiceNeeds {
  Core& core;
  PendingDelReplay& pending;
  Readiness& readiness;
  metrics::Metrics& metrics;
  DelegateTimes& times;
  RequestRules rules;
  // The daemon's own keys as a configuration of the core, for /delegate.
  std::string settings;
};

class CniService {
 public:
  CniService(CniServiceNeeds needs, Log log) : needs_(std::move(needs)), log_(std::move(log)) {}

  aio::asio::awaitable<http::Response> cni(std::string body, Arrival arrival);
  aio::asio::awaitable<http::Response> delegate(std::string body, Arrival arrival);

 private:
  // The body of the answer.
  aio::Task<std::string> run(CniCall call);
  aio::Task<std::string> run_dynamic(CniCall call);
  aio::Task<std::string> add(CniCall call);
  aio::Task<std::string> del(CniCall call);
  aio::Task<std::string> end_incomplete_del(attach::DelOutcome outcome, PendingKey key,
                                            attach::Request request, Log log);
  aio::Task<std::string> gc(CniCall call);
  Result<void> check_indicator(const CniCall& call) const;
  static void note_id(const CniCall& call, const Log& log);
  // With its id, and with the file and the level that its configuration names (02-F48).
  Log log_of(const CniCall& call) const;

  // What the end of a request says of it.
  struct Asked {
    wire::Call call;
    model::Pod pod;
    std::chrono::steady_clock::time_point begun, admitted;
    const DelegateTimes::Account& delegates;
    Log log;
  };
  http::Response finish(const Asked& asked, std::string_view kind, Result<std::string> outcome);

  CniServiceNeeds needs_;
  Log log_;
};

// 400 with the error as 03, 2.8 sends it.
http::Response error_response(const Error& error);

}  // namespace mnet::daemon
