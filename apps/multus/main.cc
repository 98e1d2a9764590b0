// multus: the whole core in one CNI plugin, for nodes without a daemon (03, 9.1). Under the name
// multusctl the same file is that program (decision 0057).

#include "base/command_line.h"
#include "multusctl/program.h"
#include "skel/flags.h"
#include "thin/thin.h"

int main(int argc, char** argv) {
  if (argc > 0 && mnet::multusctl::is_own_name(argv[0])) {
    return mnet::multusctl::run_program(argv[0], mnet::words_of(argc, argv));
  }
  const auto surroundings = mnet::thin::Surroundings::of_process();
  const auto answered = mnet::skel::answer_flags("multus", argc, argv, surroundings.front);
  return answered ? *answered : mnet::thin::run(surroundings);
}
