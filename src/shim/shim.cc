#include "shim/shim.h"

#include <unistd.h>

#include <string>

#include "base/random_number.h"
#include "base/result.h"
#include "cni/version.h"
#include "shim/call.h"
#include "skel/skel.h"
#include "wire/wire.h"

namespace mnet::shim {
Surroundings Surroundings::of_process() {
  return {.front = skel::Front::of_process(),
          .environment = environ,
          .random = random_number,
          .limits = {}};
}

int run(const Surroundings& surroundings) {
  const auto handled_by = [&](Result<void> (Call::*handle)() const) -> skel::Handler {
    return [&surroundings, handle](const skel::CmdArgs& args) {
      const Call call(surroundings, args);
      return (call.*handle)();
    };
  };
  const skel::Plugin plugin{.add = handled_by(&Call::add),
                            .del = handled_by(&Call::del),
                            .check = handled_by(&Call::check),
                            .gc = handled_by(&Call::gc),
                            .status = handled_by(&Call::status),
                            .versions = cni::all_versions(),
                            .about = "meta-plugin that delegates to other CNI plugins",
                            .own_mark = std::string(wire::kRequestIdVariable)};
  return skel::run(plugin, surroundings.front);
}

}  // namespace mnet::shim
