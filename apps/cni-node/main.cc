// cni-node: puts CNI plugins, configurations and Kubernetes objects on a node (04, 1).

#include "base/command_line.h"
#include "nodetools/node_work.h"

int main(int argc, char** argv) {
  return mnet::nodetools::run_cni_node(mnet::words_of(argc, argv));
}
