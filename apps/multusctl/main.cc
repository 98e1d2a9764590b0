// multusctl, also `kubectl multus`: sees, explains, lints and checks Multus, from outside a cluster
// or on a node.

#include "base/command_line.h"
#include "multusctl/program.h"

int main(int argc, char** argv) {
  return mnet::multusctl::run_program(argc > 0 ? argv[0] : "", mnet::words_of(argc, argv));
}
