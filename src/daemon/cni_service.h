// One admitted request of /cni or /delegate: reads it, calls the core, makes the answer (03, 2.8 to
// 2.10). Knows no sockets.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "admission/delegate_times.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "base/log.h"
#include "daemon/pending_del_replay.h"
#include "daemon/readiness.h"
#include "daemon/request.h"
#include "handover/container_locks.h"
#include "hotplug/hotplug.h"
#include "http/http.h"
#include "metrics/metrics.h"

namespace mnet::daemon {

struct CniServiceNeeds {
  attach::Attachments& core;
  hotplug::Hotplug& hotplug;
  PendingDelReplay& pending;
  Readiness& readiness;
  metrics::Metrics& metrics;
  admission::DelegateTimes& times;
  handover::ContainerLocks& locks;
  RequestRules rules;
};

// For hot-plug by annotation.
struct ContainerHooks {
  // An ADD has ended, or a request of a client of /delegate.
  std::function<void(const std::string& cni_dir, const std::string& container_id)> added = {};
  std::function<void(const std::string& cni_dir, const std::string& container_id)> plugged = {};
  std::function<void(const std::string& container_id)> gone = {};  // a DEL of it begins
  std::function<void(std::string_view command)> foreign_call = {};
};

enum class CniPath : std::uint8_t { kCni, kDelegate };

class CniService {
 public:
  CniService(CniServiceNeeds needs, Log log) : needs_(std::move(needs)), log_(std::move(log)) {}

  // Called from now on.
  void follow(ContainerHooks hooks) { hooks_ = std::move(hooks); }

  aio::asio::awaitable<http::Response> serve(CniPath path, std::string body, Arrival arrival);

 private:
  // The body of the answer. The first two functions are not coroutines, so that no frame of theirs
  // waits.
  aio::Task<std::string> run(CniCall call);
  aio::Task<std::string> run_hotplug(CniCall call);
  aio::Task<std::string> add(attach::Request request);
  aio::Task<std::string> del(attach::Request request);
  static Result<std::string> end_incomplete_del(attach::DelOutcome outcome);
  aio::Task<void> check(attach::Request request);
  aio::Task<void> gc(attach::Request request);
  Result<void> check_indicator(const CniCall& call) const;
  void find_records(attach::Request& request) const;
  template <typename T>
  aio::Task<T> and_tell(aio::Task<T> task, std::string cni_dir, std::string container_id);

  // What the log says at the end of a request.
  struct Asked {
    CniPath path;
    wire::Call call;
    model::Pod pod;
    std::chrono::steady_clock::time_point begun, admitted;
    const admission::DelegateTimes::Account& delegates;
    Log log;
  };
  http::Response finish(const Asked& asked, Result<std::string> outcome);

  CniServiceNeeds needs_;
  ContainerHooks hooks_;
  Log log_;
};

// 400 with the error as 03, 2.8 sends it.
http::Response error_response(const Error& error);

}  // namespace mnet::daemon
