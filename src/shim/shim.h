// What multus-shim does between stdin and stdout: it hands the call to the daemon and prints what
// comes back (03, 3). Blocking system calls, one thread; knows nothing of networks or pods.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "shim/daemon.h"
#include "skel/skel.h"
#include "wire/wire.h"

namespace mnet::shim {

struct Surroundings {
  skel::Front front;
  const char* const* environment;         // NAME=value, null at the end; must outlive run()
  std::function<std::uint64_t()> random;  // for the request id
  Limits limits;

  static Surroundings of_process();
};

// The whole program but its flags; the exit status.
int run(const Surroundings& surroundings);

// The body of /cni (03, 3.4): the CNI variables and PATH, nothing else of the environment.
wire::Request make_request(const char* const* environment, std::string config);

}  // namespace mnet::shim
