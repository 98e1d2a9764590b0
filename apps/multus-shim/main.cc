// multus-shim: the CNI plugin that the container runtime starts; it calls the daemon (03, 3).

#include "shim/shim.h"
#include "skel/flags.h"

int main(int argc, char** argv) {
  const auto surroundings = mnet::shim::Surroundings::of_process();
  const auto answered = mnet::skel::answer_flags("multus-shim", argc, argv, surroundings.front);
  return answered ? *answered : mnet::shim::run(surroundings);
}
