// From the body of a request to what the core is asked to do (03, 2.9 and 2.10). Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attach/attach.h"
#include "base/result.h"
#include "json/json.h"
#include "wire/wire.h"

namespace mnet::daemon {

struct RequestRules {
  // Laid over the configuration of every request; must outlive the rules.
  const json::Object* server_config = nullptr;
  // The daemon itself watches the readiness indicator, so the core is not told of it.
  bool drops_readiness_indicator = false;
  // Without a cluster a container need not be a pod (00-index).
  bool needs_pod = true;
};

// What one request is and who waits for it.
struct Arrival {
  std::string id;                              // request id
  std::uint64_t ticket = 0;                    // order of arrival
  std::shared_ptr<chain::Caller> caller = {};  // none: one who never leaves
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point admitted = begun;
};

// What admission wants to know of a body. Pure guess-work where it cannot be read: whoever executes
// the request will say so.
struct Glance {
  bool is_del = false;
  std::string container_id;
};
Glance glance(std::string_view body);

// What the daemon itself wants to know of a merged configuration.
struct ConfigFacts {
  std::string cni_dir;
  std::string log_file, log_level;
};

struct CniCall {
  wire::Call call;          // as the client wrote it: for errors and log lines
  attach::Request request;  // what the core gets
  ConfigFacts facts;        // of /cni alone: there the configuration is Multus's
  std::optional<wire::InterfaceAttributes> attributes;
  std::vector<std::string> skipped_args;  // of a DEL, for the log

  bool is(std::string_view command) const { return call.command == command; }
  bool has_container() const { return !is("STATUS") && !is("GC"); }
};

// Body of POST /cni: steps 1 to 5 of 03, 2.9.
Result<CniCall> read_cni_call(std::string_view body, const RequestRules& rules, Arrival arrival);

// Body of POST /delegate: the configuration is one delegate's and nothing is laid over it, except
// that a missing `cniVersion` is filled in (03, 2.10).
Result<CniCall> read_delegate_call(std::string_view body, const RequestRules& rules,
                                   Arrival arrival);

// `<line> ERRORED: <cause>`, ADD's cause with the pod in front of it (03, 2.8).
Error request_error(const wire::Call& call, const model::Pod& pod, Error cause);

// Whether the error tells the runtime to try again (code 11).
bool is_try_again(const Error& error);

// Defaults where the configuration cannot be read.
ConfigFacts facts_of(std::string_view config);

}  // namespace mnet::daemon
