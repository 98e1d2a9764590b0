// What the verbs share: the ports, which requests work on which container, and one request as read
// and checked. Inside use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attach/attach.h"
#include "attach/containers.h"
#include "attach/ports.h"
#include "base/log.h"
#include "chain/chain.h"
#include "model/netconf.h"
#include "model/pod_args.h"

namespace mnet::attach {

class Core {
 public:
  Core(Ports given_ports, Log given_log, Options given_options)
      : ports(given_ports), log(std::move(given_log)), options(std::move(given_options)) {}

  Ports ports;
  Log log;
  Options options;
  Containers containers;
};

enum class Verb : std::uint8_t { kAdd, kDel, kCheck, kStatus, kGc };

// One request: its configuration, its pod, its arguments.
struct Job {
  Verb verb = Verb::kAdd;
  Request request;  // with a caller, always
  model::NetConf conf;
  model::Pod pod;
  cni::ArgPairs args;  // what every delegate gets
  Log log;             // of this request

  // `<ns>:<pod>:<uid>` in the lines that tools search for (02, 9).
  std::string log_identity() const;
};

// Loads the configuration, checks identifiers and arguments as `verb` asks (02, 5.1 step 1).
Result<Job> read_job(Request request, Verb verb, const Log& log);
// The same with other rules for the configuration than the verb's.
Result<Job> read_job(Request request, Verb verb, model::LoadRules rules, const Log& log);

// The chain operations with this request's directories and identity; `caller` in place of the
// request's own, if there is one.
chain::Chain chain_of(const Core& core, const Job& job,
                      const std::shared_ptr<chain::Caller>& caller = nullptr);

}  // namespace mnet::attach
