// kubeconfig_generator: keeps a client certificate of the node, and a kubeconfig that points to it,
// current for programs that cannot do that themselves (03, 9.3).

#include "base/command_line.h"
#include "kubeconfig_generator/program.h"

int main(int argc, char** argv) {
  return mnet::kubeconfig_generator::run_program(mnet::words_of(argc, argv));
}
