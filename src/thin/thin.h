// What `multus`, the thin program, does between stdin and stdout: the core without a daemon, for
// one request (03, 9.1). Objects come from a folder of manifests or from nowhere.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "skel/skel.h"

namespace mnet::thin {

struct Surroundings {
  skel::Front front;
  std::vector<std::string> environment;  // what delegates inherit
  std::function<std::uint64_t()> random;

  // The process's own. Signals get their default actions back.
  static Surroundings of_process();
};

// The exit status. Requests of one container wait for each other across processes, a GC waits for
// all that run below its cniDir, and they for it.
int run(const Surroundings& surroundings);

}  // namespace mnet::thin
