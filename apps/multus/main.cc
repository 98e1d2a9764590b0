// multus: the whole core in one CNI plugin, for nodes without a daemon (03, 9.1).

#include "adapters/thin.h"
#include "skel/flags.h"

int main(int argc, char** argv) {
  const auto surroundings = mnet::adapters::ThinSurroundings::of_process();
  const auto answered = mnet::skel::answer_flags("multus", argc, argv, surroundings.front);
  return answered ? *answered : mnet::adapters::run_thin(surroundings);
}
