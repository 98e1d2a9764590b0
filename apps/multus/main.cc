// multus: the whole core in one CNI plugin, for nodes without a daemon (03, 9.1).

#include "skel/flags.h"
#include "thin/thin.h"

int main(int argc, char** argv) {
  const auto surroundings = mnet::thin::Surroundings::of_process();
  const auto answered = mnet::skel::answer_flags("multus", argc, argv, surroundings.front);
  return answered ? *answered : mnet::thin::run(surroundings);
}
