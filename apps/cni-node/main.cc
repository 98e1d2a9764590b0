// cni-node: installs CNI plugins, CNI configurations and Kubernetes objects on a node (04, 1).

#include "base/command_line.h"
#include "cni_node/program.h"

int main(int argc, char** argv) { return mnet::cni_node::run_program(mnet::words_of(argc, argv)); }
