// What the verbs share: the ports, the containers that requests work on, and one request. Inside
// use.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/attach.h"
#include "attach/containers.h"
#include "attach/ports.h"
#include "attach/request.h"
#include "attach/room.h"
#include "attach/source.h"
#include "base/log.h"
#include "chain/chain.h"
#include "cni/args.h"
#include "model/delegate.h"
#include "model/netconf.h"
#include "model/objects.h"
#include "model/pod_args.h"

namespace mnet::attach {

class Core {
 public:
  Core(Ports given_ports, Options given_options)
      : ports(given_ports), options(std::move(given_options)), containers(given_ports.locks) {}

  // A status that is owed for the container is not written any more.
  void forget_status(const std::string& container_id) const {
    if (ports.owed != nullptr) ports.owed->forget(container_id);
  }

  Ports ports;
  Options options;
  Containers containers;
};

// One request as it is carried out.
struct Job {
  Job(Request read, Verb its_verb)
      : verb(its_verb),
        request(std::move(read)),
        conf(*request.conf),
        pod(request.pod),
        args(std::move(request.args)),
        log(std::move(request.log)) {}

  Verb verb;
  Request request;
  const model::NetConf& conf;
  model::Pod pod;
  cni::ArgPairs args;  // what every delegate gets
  Log log;             // of this request

  // `<ns>:<pod>:<uid>` in the lines that tools search for (02, 9).
  std::string log_identity() const;
  // The end of such a line: at level debug ` <configuration>` without its secrets, otherwise
  // nothing (03, 2.13).
  std::string logged_config(const model::Delegate& delegate) const;

  // Looks for the request's pod.
  PodLookup pod_lookup() const { return {.ns = pod.ns, .name = pod.name, .uid = pod.uid}; }
  // What the request itself says of its pod, where the object is not read.
  model::PodObjectPtr pod_as_named() const;

  // Waits until there is room for so much, which is not built before.
  aio::Task<void> take_room(Room* from, std::size_t weight) const;
  RoomRequest room_request(std::size_t weight) const;
  // Held until the request ends.
  std::shared_ptr<HeldRoom> room = std::make_shared<HeldRoom>();
};

// The chain operations with this request's directories and identity; `caller` in place of the
// request's own, if there is one.
chain::Chain chain_of(const Core& core, const Job& job,
                      const std::shared_ptr<chain::Caller>& caller = nullptr);

}  // namespace mnet::attach
