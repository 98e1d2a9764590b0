// From the body of a request to what the core carries out (03, 2.9 and 2.10). Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attach/attach.h"
#include "attach/request.h"
#include "base/log.h"
#include "base/result.h"
#include "daemon/config.h"
#include "json/json.h"
#include "wire/wire.h"

namespace mnet::daemon {

struct RequestRules {
  explicit RequestRules(const Config& config);

  json::Object server_config;           // laid over the configuration of every request of /cni
  Result<attach::NetConfPtr> settings;  // the same keys, for requests of /delegate
  // The daemon itself watches the readiness indicator, so the core does not see that key.
  bool drops_readiness_indicator;
  // Without a cluster a container need not be a pod (00-index).
  bool needs_pod;
};

// One request's identity, and the client that waits for it.
struct Arrival {
  std::string id;                              // request id
  std::uint64_t ticket = 0;                    // order of arrival
  std::shared_ptr<chain::Caller> caller = {};  // none: one that never leaves
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point admitted = begun;
};

// What admission needs to know of a body; empty where the body cannot be read.
struct Glance {
  bool is_del = false;
  std::string ns = {};  // of the pod
  std::string container_id = {};
};
Glance glance(std::string_view body);

struct CniCall {
  wire::Call call;  // as the client wrote it: for errors and log lines
  std::optional<attach::Verb> verb;
  model::Pod pod;
  Result<attach::Request> request;  // an error: what the core refuses, or an unknown command
  std::string config;               // of /delegate: the delegate's own
  std::optional<wire::InterfaceAttributes> attributes;
  std::vector<std::string> skipped_args;  // of a DEL, for the log
  Log log;  // with the request's id, and with the file and the level of its configuration (02-F48)
};

// Body of POST /cni: steps 1 to 5 of 03, 2.9.
Result<CniCall> read_cni_call(std::string_view body, const RequestRules& rules, Arrival arrival,
                              const Log& log);

// Body of POST /delegate: the configuration is one delegate's and nothing is laid over it, except
// that a missing `cniVersion` is filled in (03, 2.10).
Result<CniCall> read_delegate_call(std::string_view body, const RequestRules& rules,
                                   Arrival arrival, const Log& log);

// `<line> ERRORED: <cause>`, ADD's cause with the pod in front of it (03, 2.8).
Error request_error(const wire::Call& call, const model::Pod& pod, Error cause);

// Whether the error tells the runtime to try again (code 11).
bool is_try_again(const Error& error);

// For requests made from a record below `cni_dir`: an error if the daemon's own configuration,
// which is laid over the request, leads elsewhere.
Result<void> check_cni_dir(const attach::Request& request, const std::string& cni_dir);

}  // namespace mnet::daemon
